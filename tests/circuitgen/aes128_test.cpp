#include "circuitgen/aes128.h"

#include <gtest/gtest.h>

#include "circuitgen/cost.h"
#include "circuitgen/registry.h"
#include "circuitgen/values.h"
#include "circuits.h"

namespace tinyot {
namespace {

std::uint32_t times_in_field(std::uint32_t x, std::uint32_t y) {
  std::uint32_t product = 0;
  for (int i = 7; i >= 0; --i) {
    product = (product << 1) ^ ((product & 0x80) != 0 ? 0x11b : 0);
    if (((y >> i) & 1) != 0) product ^= x;
  }
  return product;
}

// FIPS-197 section 5.1.1: the inverse in GF(2^8), 0 going to 0, then the affine map.
std::uint32_t sbox_by_definition(std::uint32_t x) {
  std::uint32_t inverse = 0;
  for (std::uint32_t y = 1; y < 256; ++y) {
    if (times_in_field(x, y) == 1) inverse = y;
  }
  std::uint32_t result = 0x63;
  for (int i = 0; i < 8; ++i) {
    std::uint32_t bit = 0;
    for (const int j : {0, 4, 5, 6, 7}) bit ^= inverse >> ((i + j) % 8);
    result ^= (bit & 1) << i;
  }
  return result;
}

BitVector hex(const char* text) { return parse_value(text, 128, ValueFormat::Bytes, false); }
std::string hex(const BitVector& value) { return print_value(value, ValueFormat::Bytes, false); }

TEST(Aes128, SboxIsTheInverseAndTheAffineMapOnAllBytes) {
  const CircuitInfo info = test_info({8}, {8});
  const TestCircuit circuit(info, [&info](GateSink& sink) {
    Builder builder(sink, info);
    builder.output(0, aes_sbox(ByteWord(builder.input(0))));
  });
  LaneValues inputs;
  for (std::uint32_t x = 0; x < 256; ++x) inputs.push_back(parse_value(std::to_string(x), 8, ValueFormat::Integer, false));
  const std::vector<LaneValues> outputs = evaluate(circuit, 256, {inputs});
  for (std::uint32_t x = 0; x < 256; ++x) EXPECT_EQ(outputs[0][x].words()[0], sbox_by_definition(x)) << x;

  const CircuitCost cost = cost_of(circuit);
  EXPECT_EQ(cost.ands, 32u);
  EXPECT_EQ(cost.xors + cost.nots, 81u + 4u);
  EXPECT_EQ(cost.and_depth, 6u);
}

TEST(Aes128, EncryptsTheVectorsOfFips197) {
  const auto circuit = make_aes128();
  // Appendix C.1, with the key split into two shares; Appendix B beside it as a message under its own key.
  const std::vector<LaneValues> c1 = evaluate(
      *circuit, 1, {{hex("000102030405060708090a0b0c0d0e0f")}, {BitVector(128)}, {hex("00112233445566778899aabbccddeeff")}});
  EXPECT_EQ(hex(c1[0][0]), "69c4e0d86a7b0430d8cdb78070b4c55a");
  BitVector key_b = hex("2b7e151628aed2a6abf7158809cf4f3c");
  std::mt19937_64 rng(6);
  const BitVector key_a = random_bits(128, rng);
  key_b ^= key_a;
  const std::vector<LaneValues> b = evaluate(*circuit, 1, {{key_a}, {key_b}, {hex("3243f6a8885a308d313198a2e0370734")}});
  EXPECT_EQ(hex(b[0][0]), "3925841d02dc09fbdc118597196a0b32");
}

// SP 800-38A, F.1.1 (ECB-AES128.Encrypt): four blocks under one key, repeated over more lanes than a word has.
TEST(Aes128, EncryptsManyLanesUnderOneKey) {
  const char* const messages[] = {"6bc1bee22e409f96e93d7e117393172a", "ae2d8a571e03ac9c9eb76fac45af8e51",
                                  "30c81c46a35ce411e5fbc1191a0a52ef", "f69f2445df4f9b17ad2b417be66c3710"};
  const char* const ciphertexts[] = {"3ad77bb40d7a3660a89ecaf32466ef97", "f5d3d58503b9699de785895a96fdbaaf",
                                     "43b1cd7f598ece23881b00e3ed030688", "7b0c785e27e8ad3f8223207104725dd4"};
  LaneValues blocks;
  for (std::size_t lane = 0; lane < 70; ++lane) blocks.push_back(hex(messages[lane % 4]));
  const std::vector<LaneValues> outputs =
      evaluate(*make_aes128(), 70, {{BitVector(128)}, {hex("2b7e151628aed2a6abf7158809cf4f3c")}, blocks});
  for (std::size_t lane = 0; lane < 70; ++lane) EXPECT_EQ(hex(outputs[0][lane]), ciphertexts[lane % 4]);
}

TEST(Aes128, Costs6400AndsAtDepth60) {
  const CircuitCost cost = cost_of(*make_aes128());
  EXPECT_EQ(cost.ands, 6400u);
  EXPECT_EQ(cost.and_depth, 60u);
  EXPECT_EQ(cost.input_bits_of(Party::A), 256u);
  EXPECT_EQ(cost.input_bits_of(Party::B), 128u);
  EXPECT_EQ(cost.output_bits, 128u);
}

TEST(Registry, FindsCircuitsByNameInAnySpelling) {
  for (const std::string& name : circuit_names()) {
    const auto circuit = find_circuit(name);
    ASSERT_NE(circuit, nullptr);
    EXPECT_EQ(circuit->info().name, name);
  }
  for (const char* name : {"AES128", "aes-128", "Aes_128"}) EXPECT_NE(find_circuit(name), nullptr) << name;
  for (const char* name : {"", "aes", "aes129", "aes 128"}) EXPECT_EQ(find_circuit(name), nullptr) << name;
}

}  // namespace
}  // namespace tinyot
