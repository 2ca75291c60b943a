// The generator: reproducible, balanced in every bit, without modulo bias.
#include "crypto/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <set>

#include "tests/crypto/statistics.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

Rng seeded(std::uint64_t seed) { return Rng(Seed{{seed, 0}}); }

void expect_balanced(double ones, double samples, std::size_t position) {
  // six standard deviations
  EXPECT_LT(std::abs(ones - samples / 2), 3 * std::sqrt(samples)) << "position " << position;
}

TEST(Rng, SameSeedGivesSameBytes) {
  Rng a = seeded(1), b = seeded(1), other = seeded(2);
  std::vector<std::byte> from_a(5000), from_b(5000), from_other(5000);
  a.fill(from_a), b.fill(from_b), other.fill(from_other);
  EXPECT_EQ(from_a, from_b);
  EXPECT_NE(from_a, from_other);
}

TEST(Rng, DoesNotRepeatBetweenCalls) {
  Rng rng = seeded(3);
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  for (const std::size_t size : {1u, 16u, 17u, 1024u, 1025u}) {
    std::vector<std::byte> bytes(size);
    rng.fill(bytes);
    const Block block = rng.block();
    EXPECT_TRUE(seen.insert({block.lo, block.hi}).second);
  }
  Rng forked = rng.fork();
  EXPECT_NE(forked.block().lo, rng.block().lo);
}

TEST(Rng, MovedGeneratorContinues) {
  Rng a = seeded(4), b = seeded(4);
  a.block(), b.block();
  Rng moved_to = std::move(a);
  EXPECT_EQ(moved_to.block().lo, b.block().lo);
}

// What it has given out is nowhere in the object, nor in one that it was moved from.
TEST(Rng, KeepsNoOutput) {
  alignas(Rng) std::byte memory[2][sizeof(Rng)];
  Rng* rng = new (memory[0]) Rng(Seed{{6, 0}});
  std::vector<Block> given(200);
  for (Block& block : given) block = rng->block();
  Rng* moved_to = new (memory[1]) Rng(std::move(*rng));
  for (std::size_t i = 0; i < 7; ++i) given.push_back(moved_to->block());
  const auto expect_absent = [&] {
    for (const auto& object : memory)
      for (const Block& block : given) {
        const auto bytes = std::as_bytes(std::span(&block, 1));
        EXPECT_EQ(std::search(std::begin(object), std::end(object), bytes.begin(), bytes.end()),
                  std::end(object));
      }
  };
  expect_absent();
  // Nor is the rest of what was generated, once it is destroyed.
  const auto next = [&] {
    Rng same(Seed{{6, 0}});
    for (std::size_t i = 0; i < given.size(); ++i) same.block();
    return same.block();
  }();
  std::destroy_at(moved_to);
  std::destroy_at(rng);
  given.push_back(next);
  expect_absent();
}

TEST(Rng, SystemSeedsDiffer) {
  EXPECT_NE(Rng::from_system().block().lo, Rng::from_system().block().lo);
}

TEST(Rng, EveryBitPositionIsBalanced) {
  constexpr std::size_t kSamples = 100000;
  std::vector<Block> blocks(kSamples);
  seeded(5).fill_blocks(std::span(blocks));
  for (std::size_t position = 0; position < 128; ++position) {
    std::size_t ones = 0;
    for (const Block& block : blocks)
      ones += ((position < 64 ? block.lo : block.hi) >> (position % 64)) & 1;
    expect_balanced(static_cast<double>(ones), kSamples, position);
  }
}

TEST(Rng, BitsFillTheWholeVector) {
  constexpr std::size_t kVectors = 2000;
  for (const std::size_t size : {1u, 63u, 64u, 65u, 127u, 1023u, 1024u, 1025u}) {
    Rng rng = seeded(size);
    std::vector<std::size_t> ones(size);
    for (std::size_t v = 0; v < kVectors; ++v) {
      BitVector bits = rng.bits(size);
      ASSERT_TRUE(bits.clear_padding()) << "stray bits beyond the size";
      for (std::size_t i = 0; i < size; ++i) ones[i] += bits[i];
    }
    for (std::size_t i = 0; i < size; ++i)
      expect_balanced(static_cast<double>(ones[i]), kVectors, i);
  }
}

TEST(Rng, EveryWindowOfALongVectorIsBalanced) {
  constexpr std::size_t kSize = 1'000'003, kWindow = 20'000;
  const BitVector bits = seeded(6).bits(kSize);
  for (std::size_t first = 0; first + kWindow <= kSize + kWindow - 1; first += kWindow) {
    const std::size_t begin = std::min(first, kSize - kWindow);
    std::size_t ones = 0;
    for (std::size_t i = begin; i < begin + kWindow; ++i) ones += bits[i];
    expect_balanced(static_cast<double>(ones), kWindow, begin);
  }
}

class Below : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Below, IsUniform) {
  const std::uint64_t bound = GetParam();
  Rng rng = seeded(bound);
  std::vector<double> counts(bound);
  for (int i = 0; i < 200000; ++i) {
    const std::uint64_t drawn = rng.below(bound);
    ASSERT_LT(drawn, bound);
    ++counts[drawn];
  }
  EXPECT_LT(chi_square(counts), chi_square_bound(bound));
}

INSTANTIATE_TEST_SUITE_P(Bounds, Below, testing::Values(2, 3, 5, 7, 100));

// Reduced modulo 3 2^62, a uniform 64-bit number would be in the first third half of the time.
TEST(Rng, BelowAHugeBoundHasNoModuloBias) {
  constexpr std::uint64_t kThird = std::uint64_t{1} << 62;
  Rng rng = seeded(8);
  std::vector<double> thirds(3);
  for (int i = 0; i < 60000; ++i) {
    const std::uint64_t drawn = rng.below(3 * kThird);
    ASSERT_LT(drawn, 3 * kThird);
    ++thirds[drawn / kThird];
  }
  EXPECT_LT(chi_square(thirds), chi_square_bound(3));
}

TEST(Rng, BelowHandlesEdgeBounds) {
  Rng rng = seeded(9);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(rng.below(1), 0u);
  bool high = false;
  for (int i = 0; i < 100; ++i) high |= rng.below(~std::uint64_t{0}) >> 63;
  EXPECT_TRUE(high);
  EXPECT_THROW(rng.below(0), std::logic_error);
}

}  // namespace
}  // namespace tinyot
