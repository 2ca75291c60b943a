#include "circuitgen/generators/sha2.h"

#include <cryptopp/sha.h>
#include <gtest/gtest.h>

#include "byte_strings.h"
#include "circuitgen/cost.h"
#include "circuitgen/formats/values.h"
#include "circuitgen/generators/registry.h"
#include "circuits.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

std::unique_ptr<Circuit> sha256(std::size_t bytes) {
  return find_circuit("sha256:bytes=" + std::to_string(bytes));
}

std::string digest_of(const std::string& message) {
  BitVector value(8 * message.size());
  std::copy_n(reinterpret_cast<const std::byte*>(message.data()), message.size(),
              value.bytes().begin());
  std::vector<LaneValues> inputs;
  if (!message.empty()) inputs.push_back({value});
  return print_value(evaluate(*sha256(message.size()), 1, inputs)[0][0], ValueFormat::Bytes, false);
}

// FIPS 180-4 examples, and NIST's test vectors for the empty message and the one of 112 bytes.
TEST(Sha256, HashesTheVectorsOfNist) {
  EXPECT_EQ(digest_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(digest_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(digest_of("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklm"
                      "nopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
}

// Lengths around the edges of the padding; the digests are from other implementations.
TEST(Sha256, PadsMessagesOfAllLengths) {
  const std::pair<std::size_t, const char*> vectors[] = {
      {1, "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"},
      {54, "a3f01b6939256127582ac8ae9fb47a382a244680806a3f613a118851c1ca1d47"},
      {55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
      {56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
      {57, "f13b2d724659eb3bf47f2dd6af1accc87b81f09f59f2b75e5c0bed6589dfe8c6"},
      {63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"},
      {64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
      {65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"},
      {119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"},
      {120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"},
      {128, "6836cf13bac400e9105071cd6af47084dfacad4e5e302c94bfed24e013afb73e"},
      {200, "c2a908d98f5df987ade41b5fce213067efbcc21ef2240212a41e54b5e7c28ae5"},
  };
  for (const auto& [bytes, digest] : vectors)
    EXPECT_EQ(digest_of(std::string(bytes, 'a')), digest) << bytes;
}

// FIPS 180-4 examples, and the one of the empty message.
TEST(Sha512, HashesTheVectorsOfNist) {
  const auto digest = [](const std::string& message) {
    return to_hex(evaluate_strings("sha512:bytes=" + std::to_string(message.size()),
                                   {{"message", message}})[0]);
  };
  EXPECT_EQ(digest(""),
            "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
            "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e");
  EXPECT_EQ(digest("abc"),
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
            "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
  EXPECT_EQ(
      digest("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopq"
             "klmnopqrlmnopqrsmnopqrstnopqrstu"),
      "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018"
      "501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909");
}

TEST(Sha512, AgreesWithCryptoppOnLengthsAroundBlocks) {
  std::mt19937_64 rng(34);
  for (const std::size_t bytes : {1, 110, 111, 112, 113, 119, 120, 121, 127, 128, 129, 239, 240}) {
    const std::string message = random_string(bytes, rng);
    std::string wanted(64, '\0');
    CryptoPP::SHA512().CalculateDigest(data_of(wanted), data_of(message), bytes);
    EXPECT_EQ(to_hex(evaluate_strings("sha512:bytes=" + std::to_string(bytes),
                                      {{"message", message}})[0]),
              to_hex(wanted))
        << bytes;
  }
}

TEST(Sha512, TakesOneAndPerFullAdder) {
  const CircuitCost one = cost_of(*find_circuit("sha512:bytes=111")),
                    two = cost_of(*find_circuit("sha512:bytes=128")),
                    three = cost_of(*find_circuit("sha512:bytes=256"));
  const std::uint64_t block = 80 * (4 * 63 - 1 + 63 + 125 + 128) + 64 * (3 * 63 - 1) + 8 * 63;
  EXPECT_LE(one.ands, block);
  EXPECT_LE(three.ands - two.ands, block);
  EXPECT_GE(three.ands - two.ands, block - 800);
  EXPECT_LE(one.and_depth, 5000u);
}

TEST(Sha256, HashesEachLane) {
  std::mt19937_64 rng(4);
  const auto circuit = sha256(3);
  std::vector<LaneValues> inputs = random_inputs(circuit->info(), 67, rng);
  inputs[0][66].words()[0] = 0x636261;
  const std::vector<LaneValues> outputs = evaluate(*circuit, 67, inputs);
  EXPECT_EQ(print_value(outputs[0][66], ValueFormat::Bytes, false),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  for (std::size_t lane = 0; lane < 66; ++lane) {
    const std::vector<LaneValues> alone = evaluate(*circuit, 1, {{inputs[0][lane]}});
    EXPECT_EQ(print_value(alone[0][0], ValueFormat::Bytes, false),
              print_value(outputs[0][lane], ValueFormat::Bytes, false));
  }
}

TEST(Sha256, TakesOneAndPerFullAdder) {
  const CircuitCost one = cost_of(*sha256(55)), two = cost_of(*sha256(64)),
                    three = cost_of(*sha256(128));
  // A round: 4 sums of 31 for T1, of which one bit is free, 31 and 61 for e and a, 32 each for Ch
  // and Maj.
  const std::uint64_t block = 64 * (4 * 31 - 1 + 31 + 61 + 64) + 48 * (3 * 31 - 1) + 8 * 31;
  EXPECT_LE(one.ands, block);
  EXPECT_LE(three.ands - two.ands, block);
  EXPECT_GE(three.ands - two.ands, block - 500);
  EXPECT_LE(one.and_depth, 2400u);
  EXPECT_EQ(cost_of(*sha256(0)).ands, 0u);
}

}  // namespace
}  // namespace tinyot
