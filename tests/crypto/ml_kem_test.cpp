// ML-KEM-768, where OpenSSL has it, and the vectors of its keys everywhere.
#include "crypto/ml_kem.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "tests/crypto/statistics.h"
#include "tests/support/hex.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

Rng kem_rng(std::uint64_t seed) { return Rng(Seed{{seed, 12}}); }

std::uint32_t coefficient(const KemVector& vector, std::size_t i) {
  const std::size_t bit = 12 * i;
  const std::uint32_t both = vector.bytes[bit / 8] | vector.bytes[bit / 8 + 1] << 8;
  return both >> (bit % 8) & 0xFFF;
}

void set_coefficient(KemVector& vector, std::size_t i, std::uint32_t value) {
  for (std::size_t b = 0; b < 12; ++b) {
    const std::size_t bit = 12 * i + b;
    const auto mask = static_cast<std::uint8_t>(1 << (bit % 8));
    vector.bytes[bit / 8] =
        (value >> b & 1) != 0 ? vector.bytes[bit / 8] | mask : vector.bytes[bit / 8] & ~mask;
  }
}

TEST(KemVector, SumsAndDifferencesAreThoseOfTheCoefficients) {
  Rng rng = kem_rng(1);
  KemVector a = random_vector(rng), b = random_vector(rng);
  const std::uint32_t edges[] = {0, 1, 1664, 1665, kKemModulus - 1};
  for (std::size_t i = 0; i < 25; ++i) {
    set_coefficient(a, i, edges[i / 5]);
    set_coefficient(b, i, edges[i % 5]);
  }
  const KemVector sum = a + b, difference = a - b;
  for (std::size_t i = 0; i < kKemCoefficients; ++i) {
    const std::uint32_t x = coefficient(a, i), y = coefficient(b, i);
    EXPECT_EQ(coefficient(sum, i), (x + y) % kKemModulus) << i;
    EXPECT_EQ(coefficient(difference, i), (x + kKemModulus - y) % kKemModulus) << i;
  }
  EXPECT_TRUE(is_valid(sum) && is_valid(difference));
}

TEST(KemVector, RejectsCoefficientsFromTheModulusOn) {
  Rng rng = kem_rng(2);
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}, std::size_t{400}, std::size_t{767}}) {
    KemVector vector = random_vector(rng);
    for (const auto& [value, is_accepted] :
         {std::pair{kKemModulus - 1, true}, {kKemModulus, false}, {0xFFFu, false}, {0u, true}}) {
      set_coefficient(vector, i, value);
      EXPECT_EQ(is_valid(vector), is_accepted) << value << " at " << i;
    }
  }
}

TEST(KemVector, RandomOnesAreUniform) {
  Rng rng = kem_rng(3);
  std::vector<double> observed(kKemModulus);
  for (int n = 0; n < 60; ++n) {
    const KemVector vector = random_vector(rng);
    EXPECT_TRUE(is_valid(vector));
    for (std::size_t i = 0; i < kKemCoefficients; ++i) ++observed[coefficient(vector, i)];
  }
  EXPECT_LT(test::chi_square(observed), test::chi_square_bound(observed.size()));
}

// By tests/offline/kem_ot_vectors.py.
TEST(KemVector, HashIsThatOfTheSpecification) {
  Digest digest;
  for (std::size_t i = 0; i < digest.bytes.size(); ++i)
    digest.bytes[i] = static_cast<std::uint8_t>(i);
  EXPECT_EQ(test::hex_of(sha256(bytes_of(hash_to_vector(digest))).bytes),
            "58e765b3c85db5ace61c277c5324f15e26fa3129bc81e02362ef995d1a6af38f");
}

TEST(MlKem, SaysWhyItIsNotThere) {
  if (has_ml_kem()) {
    EXPECT_EQ(ml_kem_shortage(), "");
    return;
  }
  EXPECT_NE(ml_kem_shortage().find(" has no ML-KEM-768, which 3.5 has"), std::string::npos)
      << ml_kem_shortage();
  Rng rng = kem_rng(4);
  EXPECT_THROW(KemKeyPair{rng}, Error);
}

TEST(MlKem, SecretsAgreeAndOtherCiphertextsGiveOtherSecrets) {
  if (!has_ml_kem()) GTEST_SKIP() << ml_kem_shortage();
  Rng rng = kem_rng(5);
  const KemKeyPair pair(rng);
  EXPECT_TRUE(is_valid(pair.public_key().t));
  const Encapsulated made = encapsulate(pair.public_key(), rng);
  EXPECT_EQ(test::hex_of(pair.decapsulate(made.ciphertext).bytes), test::hex_of(made.secret.bytes));
  EXPECT_NE(test::hex_of(encapsulate(pair.public_key(), rng).secret.bytes),
            test::hex_of(made.secret.bytes));
  KemCiphertext altered = made.ciphertext;
  altered.bytes[500] ^= 1;
  const std::string of_altered = test::hex_of(pair.decapsulate(altered).bytes);
  EXPECT_NE(of_altered, test::hex_of(made.secret.bytes));
  EXPECT_NE(of_altered, std::string(64, '0'));
}

TEST(MlKem, EncapsulatesToAnyValidVector) {
  if (!has_ml_kem()) GTEST_SKIP() << ml_kem_shortage();
  Rng rng = kem_rng(6);
  KemPublicKey key{random_vector(rng), rng.object<std::array<std::uint8_t, 32>>()};
  for (int n = 0; n < 20; ++n) {
    key.t = key.t + random_vector(rng);
    EXPECT_NO_THROW(encapsulate(key, rng));
  }
  set_coefficient(key.t, 9, kKemModulus);
  EXPECT_THROW(encapsulate(key, rng), Error) << "OpenSSL takes a key that FIPS 203 does not allow";
}

}  // namespace
}  // namespace tinyot
