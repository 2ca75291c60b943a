#include "circuitgen/generators/sha3.h"

#include <cryptopp/sha3.h>
#include <gtest/gtest.h>

#include "byte_strings.h"
#include "circuitgen/cost.h"
#include "circuits.h"

namespace tinyot {
namespace {

std::string sha3_spec(std::size_t digest, std::size_t bytes) {
  return "sha3:digest=" + std::to_string(digest) + ",bytes=" + std::to_string(bytes);
}
std::string sha3(std::size_t digest, const std::string& message) {
  return evaluate_strings(sha3_spec(digest, message.size()), {{"message", message}})[0];
}

// NIST's examples of FIPS 202.
TEST(Sha3, HashesTheVectorsOfNist) {
  EXPECT_EQ(to_hex(sha3(224, "")), "6b4e03423667dbb73b6e15454f0eb1abd4597f9a1b078e3f5b5a6bc7");
  EXPECT_EQ(to_hex(sha3(256, "")),
            "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a");
  EXPECT_EQ(to_hex(sha3(256, "abc")),
            "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532");
  EXPECT_EQ(to_hex(sha3(512, "abc")),
            "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e"
            "10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0");
  EXPECT_EQ(to_hex(sha3(256, std::string(200, '\xa3'))),
            "79f38adec5c20307a98ef76e8324afbfd46cfd81b22e3973c65fa1bd9de31787");
}

TEST(Sha3, AgreesWithCryptoppOnLengthsAroundBlocks) {
  std::mt19937_64 rng(31);
  CryptoPP::SHA3_224 sha3_224;
  CryptoPP::SHA3_256 sha3_256;
  CryptoPP::SHA3_384 sha3_384;
  CryptoPP::SHA3_512 sha3_512;
  for (CryptoPP::SHA3* hash :
       std::initializer_list<CryptoPP::SHA3*>{&sha3_224, &sha3_256, &sha3_384, &sha3_512}) {
    const std::size_t rate = 200 - 2 * hash->DigestSize();
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, rate - 2, rate - 1, rate,
                                    rate + 1, 2 * rate - 1, 2 * rate}) {
      const std::string message = random_string(bytes, rng);
      std::string wanted(hash->DigestSize(), '\0');
      hash->CalculateDigest(data_of(wanted), data_of(message), bytes);
      EXPECT_EQ(to_hex(sha3(8 * hash->DigestSize(), message)), to_hex(wanted)) << bytes;
    }
  }
}

TEST(Sha3, HoldsFewWiresOfALongMessage) {
  EXPECT_LE(most_live_wires(*find_circuit(sha3_spec(256, 10'000))), 8'000u);
}

TEST(Sha3, MatchesTheDocumentedCost) {
  const auto cost = [](std::size_t digest, std::size_t bytes) {
    return cost_of(*find_circuit(sha3_spec(digest, bytes)));
  };
  EXPECT_EQ(cost(256, 64).ands, 37'056u);
  EXPECT_EQ(cost(512, 64).ands, 37'312u);
  EXPECT_EQ(cost(256, 300).ands - cost(256, 200).ands, 38'400u);
  EXPECT_EQ(cost(256, 64).and_depth, 24u);
  EXPECT_EQ(cost(256, 300).and_depth, 72u);
  EXPECT_EQ(cost(256, 0).ands, 0u);
}

}  // namespace
}  // namespace tinyot
