// Permutations and pairings: well formed, uniform, bound to seed, domain and session.
#include "crypto/public_coins.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "tests/crypto/statistics.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr Domain kDomain{crypto::Phase::unregistered("test permutation"), 'A', 0};

PublicSeed seed_of(std::uint32_t number) {
  PublicSeed seed{};
  std::memcpy(seed.data(), &number, sizeof number);
  return seed;
}

TEST(Permutation, IsAPermutation) {
  for (const std::uint32_t n : {0u, 1u, 2u, 3u, 64u, 65u, 10000u}) {
    auto image = permutation_from({}, kDomain, seed_of(n), n);
    ASSERT_EQ(image.size(), n);
    std::sort(image.begin(), image.end());
    for (std::uint32_t i = 0; i < n; ++i) ASSERT_EQ(image[i], i);
  }
}

TEST(Permutation, IsUniformOverAllOfFour) {
  std::map<std::vector<std::uint32_t>, double> counts;
  for (std::uint32_t s = 0; s < 24000; ++s) ++counts[permutation_from({}, kDomain, seed_of(s), 4)];
  ASSERT_EQ(counts.size(), 24u);
  std::vector<double> observed;
  for (const auto& [permutation, count] : counts) observed.push_back(count);
  EXPECT_LT(chi_square(observed), chi_square_bound(24));
}

TEST(Permutation, MapsEachElementToAnyPosition) {
  constexpr std::uint32_t kSize = 1000, kCells = 20;
  for (const std::uint32_t watched : {0u, 499u, 999u}) {
    std::vector<double> counts(kCells);
    for (std::uint32_t s = 0; s < 2000; ++s)
      ++counts[permutation_from({}, kDomain, seed_of(s), kSize)[watched] / (kSize / kCells)];
    EXPECT_LT(chi_square(counts), chi_square_bound(kCells)) << watched;
  }
}

// Step by step as doc/protocol.md has it, with a size at which words are rejected.
TEST(Permutation, IsAsDescribedWhereWordsAreRejected) {
  constexpr std::uint32_t kSize = 1 << 22;
  Rng words(Seed{RandomOracle({}, kDomain).absorb_object(seed_of(9)).block()});
  std::vector<std::uint8_t> bin_of(kSize);
  words.fill(std::as_writable_bytes(std::span(bin_of)));
  std::vector<std::vector<std::uint32_t>> bins(256);
  for (std::uint32_t i = 0; i < kSize; ++i) bins[bin_of[i]].push_back(i);
  std::size_t rejected = 0;
  std::vector<std::uint32_t> expected;
  for (std::vector<std::uint32_t>& bin : bins) {
    for (std::uint64_t left = bin.size(); left > 1; --left) {
      std::uint64_t product = words.object<std::uint32_t>() * left;
      for (; product % (1ull << 32) < (1ull << 32) % left; ++rejected)
        product = words.object<std::uint32_t>() * left;
      std::swap(bin[left - 1], bin[product >> 32]);
    }
    expected.insert(expected.end(), bin.begin(), bin.end());
  }
  EXPECT_GT(rejected, 0u);
  EXPECT_EQ(permutation_from({}, kDomain, seed_of(9), kSize), expected);
}

TEST(Permutation, DependsOnSeedDomainAndSession) {
  const auto base = permutation_from({}, kDomain, seed_of(1), 50);
  EXPECT_EQ(base, permutation_from({}, kDomain, seed_of(1), 50));
  EXPECT_NE(base, permutation_from({}, kDomain, seed_of(2), 50));
  EXPECT_NE(base,
            permutation_from({}, {crypto::Phase::unregistered("another"), 'A', 0}, seed_of(1), 50));
  EXPECT_NE(base, permutation_from({}, {crypto::Phase::unregistered("test permutation"), 'B', 0},
                                   seed_of(1), 50));
  EXPECT_NE(base, permutation_from({}, {crypto::Phase::unregistered("test permutation"), 'A', 1},
                                   seed_of(1), 50));
  SessionId other;
  other.bytes[31] = 1;
  EXPECT_NE(base, permutation_from(other, kDomain, seed_of(1), 50));
}

TEST(Permutation, DependsOnEveryByteOfTheSeed) {
  const auto base = permutation_from({}, kDomain, {}, 50);
  for (std::size_t i = 0; i < 32; ++i) {
    PublicSeed seed{};
    seed[i] = 1;
    EXPECT_NE(base, permutation_from({}, kDomain, seed, 50)) << i;
  }
}

TEST(Pairing, IsDisjointCompleteAndOrdered) {
  for (const std::uint32_t n : {1u, 2u, 3u, 342u, 939u}) {
    const auto pairs = pairing_from({}, kDomain, seed_of(n), n);
    ASSERT_EQ(pairs.size(), n);
    std::vector<int> met(2 * n);
    for (std::uint32_t p = 0; p < n; ++p) {
      ASSERT_LT(pairs[p].kept, pairs[p].partner);
      ASSERT_LT(pairs[p].partner, 2 * n);
      if (p > 0) {
        ASSERT_LT(pairs[p - 1].kept, pairs[p].kept);
      }
      ++met[pairs[p].kept], ++met[pairs[p].partner];
    }
    for (const int times : met) ASSERT_EQ(times, 1);
  }
}

TEST(Pairing, IsUniformOverAllOfSix) {
  std::map<std::vector<std::uint32_t>, double> counts;
  for (std::uint32_t s = 0; s < 15000; ++s) {
    std::vector<std::uint32_t> flat;
    for (const Pair& pair : pairing_from({}, kDomain, seed_of(s), 3))
      flat.push_back(pair.kept), flat.push_back(pair.partner);
    ++counts[flat];
  }
  ASSERT_EQ(counts.size(), 15u);
  std::vector<double> observed;
  for (const auto& [pairing, count] : counts) observed.push_back(count);
  EXPECT_LT(chi_square(observed), chi_square_bound(15));
}

}  // namespace
}  // namespace tinyot
