#include "circuitgen/generators/aes.h"

#include <gtest/gtest.h>

#include "circuitgen/cost.h"
#include "circuitgen/formats/values.h"
#include "circuitgen/generators/aes_sbox.h"
#include "circuitgen/generators/registry.h"
#include "circuits.h"
#include "tests/support/layers.h"

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

// FIPS-197 section 5.1.1: the inverse in GF(2^8), where 0 maps to 0, then the affine map.
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

BitVector hex(const std::string& text) {
  return parse_value(text, static_cast<std::uint32_t>(4 * text.size()), ValueFormat::Bytes, false);
}
std::string hex(const BitVector& value) { return print_value(value, ValueFormat::Bytes, false); }

std::vector<std::string> forms(const std::string& name) {
  return {name, name + ":sbox=shallow", name + ":sbox=gf16"};
}

// `key` as two shares, the first one random.
std::vector<LaneValues> inputs_of(const std::string& key, LaneValues blocks) {
  std::mt19937_64 rng(6);
  const BitVector key_a = random_bits(4 * key.size(), rng);
  BitVector key_b = hex(key);
  key_b ^= key_a;
  return {{key_a}, {key_b}, std::move(blocks)};
}

CircuitCost expect_sbox(AesSbox form, std::uint64_t ands, std::uint64_t depth) {
  const CircuitInfo info = test_info({8}, {8});
  const TestCircuit circuit(info, [&info, form](GateSink& sink) {
    Builder builder(sink, info);
    builder.output(0, aes_sbox(ByteWord(builder.input(0)), form));
  });
  LaneValues inputs;
  for (std::uint32_t x = 0; x < 256; ++x)
    inputs.push_back(parse_value(std::to_string(x), 8, ValueFormat::Integer, false));
  const std::vector<LaneValues> outputs = evaluate(circuit, 256, {inputs});
  for (std::uint32_t x = 0; x < 256; ++x)
    EXPECT_EQ(outputs[0][x].words()[0], sbox_by_definition(x)) << x;

  const CircuitCost cost = cost_of(circuit);
  EXPECT_EQ(cost.ands, ands);
  EXPECT_EQ(cost.and_depth, depth);
  EXPECT_LE(cost.xors + cost.nots, 94u + 4u);
  return cost;
}

TEST(AesSbox, SmallFormIsTheInverseAndTheAffineMapOnAllBytes) {
  expect_sbox(AesSbox::Small, 32, 6);
}

TEST(AesSbox, ShallowFormIsTheInverseAndTheAffineMapOnAllBytes) {
  expect_sbox(AesSbox::Shallow, 34, 4);
}

TEST(AesSbox, Gf16FormIsTheShallowOneWithAGroup) {
  const CircuitCost cost = expect_sbox(AesSbox::Gf16, 34, 4);
  EXPECT_EQ(cost.groups, 1u);
  EXPECT_EQ(cost.products, 37u);
  EXPECT_EQ(cost.group_parts, 4u + 10u);
  EXPECT_EQ(cost.product_depth, 3u);
}

// Appendix C of FIPS-197.
TEST(Aes, EncryptsTheVectorsOfFips197) {
  const std::string key = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
  const struct {
    const char* name;
    std::size_t digits;
    const char* ciphertext;
  } vectors[] = {{"aes128", 32, "69c4e0d86a7b0430d8cdb78070b4c55a"},
                 {"aes192", 48, "dda97ca4864cdfe06eaf70a0ec0d7191"},
                 {"aes256", 64, "8ea2b7ca516745bfeafc49904b496089"}};
  for (const auto& vector : vectors) {
    for (const std::string& form : forms(vector.name)) {
      const std::vector<LaneValues> outputs = evaluate(
          *find_circuit(form), 1,
          inputs_of(key.substr(0, vector.digits), {hex("00112233445566778899aabbccddeeff")}));
      EXPECT_EQ(hex(outputs[0][0]), vector.ciphertext) << form;
    }
  }
}

// SP 800-38A, F.1.1, F.1.3 and F.1.5 (ECB): four blocks under one key, repeated over more lanes
// than a word has bits.
TEST(Aes, EncryptsManyLanesUnderOneKey) {
  const char* const messages[] = {
      "6bc1bee22e409f96e93d7e117393172a", "ae2d8a571e03ac9c9eb76fac45af8e51",
      "30c81c46a35ce411e5fbc1191a0a52ef", "f69f2445df4f9b17ad2b417be66c3710"};
  const struct {
    const char* name;
    const char* key;
    const char* ciphertexts[4];
  } vectors[] = {{"aes128",
                  "2b7e151628aed2a6abf7158809cf4f3c",
                  {"3ad77bb40d7a3660a89ecaf32466ef97", "f5d3d58503b9699de785895a96fdbaaf",
                   "43b1cd7f598ece23881b00e3ed030688", "7b0c785e27e8ad3f8223207104725dd4"}},
                 {"aes192",
                  "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
                  {"bd334f1d6e45f25ff712a214571fa5cc", "974104846d0ad3ad7734ecb3ecee4eef",
                   "ef7afd2270e2e60adce0ba2face6444e", "9a4b41ba738d6c72fb16691603c18e0e"}},
                 {"aes256",
                  "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
                  {"f3eed1bdb5d2a03c064b5a7e3db181f8", "591ccb10d410ed26dc5ba74a31362870",
                   "b6ed21b99ca6f4f9f153e7b1beafed1d", "23304b7a39f9f3ff067d8d8f9e24ecc7"}}};
  LaneValues blocks;
  for (std::size_t lane = 0; lane < 70; ++lane) blocks.push_back(hex(messages[lane % 4]));
  for (const auto& vector : vectors) {
    for (const std::string& form : forms(vector.name)) {
      const std::vector<LaneValues> outputs =
          evaluate(*find_circuit(form), 70, inputs_of(vector.key, blocks));
      for (std::size_t lane = 0; lane < 70; ++lane)
        EXPECT_EQ(hex(outputs[0][lane]), vector.ciphertexts[lane % 4]) << form;
    }
  }
}

TEST(Aes, MatchesTheDocumentedCost) {
  const struct {
    const char* name;
    std::uint64_t sboxes;
    std::uint64_t rounds;
  } sizes[] = {{"aes128", 200, 10}, {"aes192", 224, 12}, {"aes256", 276, 14}};
  for (const auto& size : sizes) {
    const CircuitCost small = cost_of(*find_circuit(size.name)),
                      shallow = cost_of(*find_circuit(size.name + std::string(":sbox=shallow")));
    EXPECT_EQ(small.ands, 32 * size.sboxes);
    EXPECT_EQ(small.and_depth, 6 * size.rounds);
    EXPECT_EQ(shallow.ands, 34 * size.sboxes);
    EXPECT_EQ(shallow.and_depth, 4 * size.rounds);
    EXPECT_EQ(shallow.products, shallow.ands);
    EXPECT_EQ(shallow.product_depth, shallow.and_depth);
    const CircuitCost grouped = cost_of(*find_circuit(size.name + std::string(":sbox=gf16")));
    EXPECT_EQ(grouped.ands, shallow.ands);
    EXPECT_EQ(grouped.invariant_ands, shallow.invariant_ands);
    EXPECT_EQ(grouped.groups, size.sboxes);
    EXPECT_EQ(grouped.products, 37 * size.sboxes);
    EXPECT_EQ(grouped.invariant_products, shallow.invariant_ands / 34 * 37);
    EXPECT_EQ(grouped.product_depth, 3 * size.rounds);
  }
  const CircuitCost cost = cost_of(*find_circuit("aes128"));
  EXPECT_EQ(cost.ands, 6400u);
  EXPECT_EQ(cost.input_bits_of(Party::A), 256u);
  EXPECT_EQ(cost.input_bits_of(Party::B), 128u);
  EXPECT_EQ(cost.output_bits, 128u);
}

}  // namespace
}  // namespace tinyot
