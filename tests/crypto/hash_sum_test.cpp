// Sums of hashes: their definition, and dependence on every input.
#include "crypto/hash_sum.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "tests/support/blocks.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using test::random_blocks;

constexpr Domain kSumDomain{crypto::Phase::unregistered("test sum"), 'A', 5};
constexpr HashUse kUse = HashUse::LeakyTripleCheck;
constexpr SessionId kSession{};

using Words = std::pair<std::uint64_t, std::uint64_t>;
Words words(Block block) { return {block.lo, block.hi}; }

// The sum of H(i, x_i), with a new key of H after each kObjectsMax objects.
Words by_definition(std::span<const Block> blocks, std::size_t first = 0) {
  Block sum{0, 0}, hashed;
  std::optional<TweakHash> hash;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::uint64_t position = first + i, key = position / TweakHash::kObjectsMax;
    if (!hash || position % TweakHash::kObjectsMax == 0)
      hash.emplace(kSession,
                   Domain{kSumDomain.phase, kSumDomain.direction, kSumDomain.counter + key});
    (*hash)(kUse, position % TweakHash::kObjectsMax, blocks.subspan(i, 1), std::span(&hashed, 1));
    sum ^= hashed;
  }
  return words(sum);
}

Words sum_of(std::span<const Block> blocks, const SessionId& session = kSession,
             const Domain& domain = kSumDomain, HashUse use = kUse) {
  HashSum sum(session, domain, use);
  sum.absorb(blocks);
  return words(sum.take());
}

TEST(HashSum, IsTheSumOfTheHashesByPosition) {
  for (const std::size_t count : {0u, 1u, 2u, 255u, 256u, 257u, 1000u})
    EXPECT_EQ(sum_of(random_blocks(count)), by_definition(random_blocks(count))) << count;
}

TEST(HashSum, ChangesKeyAfterObjectsMax) {
  const auto blocks = random_blocks(TweakHash::kObjectsMax + 3);
  EXPECT_EQ(sum_of(blocks), by_definition(blocks));
  // The first object under the second key has the same tweak as the first under the first key, but
  // another hash.
  const std::vector<Block> equal(TweakHash::kObjectsMax + 1, Block{7, 7});
  HashSum sum(kSession, kSumDomain, kUse);
  sum.absorb(std::span(equal).first(1));
  const Words first = words(sum.take());
  sum.absorb(std::span(equal).first(TweakHash::kObjectsMax - 1));
  sum.take();
  sum.absorb(std::span(equal).first(1));
  EXPECT_NE(words(sum.take()), first);
}

TEST(HashSum, IsIndependentOfPieceSizes) {
  const auto blocks = random_blocks(1500);
  const Words whole = sum_of(blocks);
  for (const std::size_t step : {1u, 7u, 255u, 256u, 257u, 1499u}) {
    HashSum sum(kSession, kSumDomain, kUse);
    for (std::size_t first = 0; first < blocks.size(); first += step) {
      sum.absorb(std::span(blocks).subspan(first, std::min(step, blocks.size() - first)));
      sum.absorb({});
    }
    EXPECT_EQ(words(sum.take()), whole) << step;
  }
}

TEST(HashSum, IsIndependentOfACutAtTheChangeOfKey) {
  const auto blocks = random_blocks(TweakHash::kObjectsMax + 3);
  HashSum sum(kSession, kSumDomain, kUse);
  sum.absorb(std::span(blocks).first(TweakHash::kObjectsMax));
  sum.absorb({});
  sum.absorb(std::span(blocks).subspan(TweakHash::kObjectsMax));
  EXPECT_EQ(words(sum.take()), sum_of(blocks));
}

TEST(HashSum, DependsOnTheOrder) {
  auto blocks = random_blocks(600);
  const Words before = sum_of(blocks);
  for (const auto& [i, j] : {std::pair{0, 1}, {255, 256}, {0, 599}}) {
    std::swap(blocks[static_cast<std::size_t>(i)], blocks[static_cast<std::size_t>(j)]);
    EXPECT_NE(sum_of(blocks), before) << i << ", " << j;
    std::swap(blocks[static_cast<std::size_t>(i)], blocks[static_cast<std::size_t>(j)]);
  }
}

TEST(HashSum, DependsOnSingleBits) {
  auto blocks = random_blocks(300);
  std::set<Words> seen = {sum_of(blocks)};
  for (std::size_t bit = 0; bit < 128; ++bit) {
    Block& block = blocks[bit * 299 / 127];
    const Block mask =
        bit < 64 ? Block{std::uint64_t{1} << bit, 0} : Block{0, std::uint64_t{1} << (bit - 64)};
    block ^= mask;
    seen.insert(sum_of(blocks));
    block ^= mask;
  }
  EXPECT_EQ(seen.size(), 129u);
}

// Equal blocks do not cancel, and zeros contribute.
TEST(HashSum, DependsOnTheLength) {
  std::set<Words> seen;
  for (std::size_t count = 0; count < 20; ++count)
    seen.insert(sum_of(std::vector<Block>(count, Block{0, 0})));
  EXPECT_EQ(seen.size(), 20u);
}

TEST(HashSum, PositionsContinueAfterTake) {
  const auto blocks = random_blocks(10);
  HashSum sum(kSession, kSumDomain, kUse);
  sum.absorb(blocks);
  const Words first = words(sum.take());
  EXPECT_EQ(words(sum.take()), Words(0, 0)) << "nothing since the last call";
  sum.absorb(blocks);
  const Words second = words(sum.take());
  EXPECT_EQ(second, by_definition(blocks, blocks.size()));
  EXPECT_NE(second, first);
}

TEST(HashSum, DependsOnSessionDomainAndUse) {
  const auto blocks = random_blocks(3);
  SessionId other{};
  other.bytes[0] ^= decltype(other.bytes)::value_type{1};
  const std::set<Words> seen = {
      sum_of(blocks),
      sum_of(blocks, other),
      sum_of(blocks, kSession, {crypto::Phase::unregistered("test other"), 'A', 5}),
      sum_of(blocks, kSession, {crypto::Phase::unregistered("test sum"), 'B', 5}),
      sum_of(blocks, kSession, {crypto::Phase::unregistered("test sum"), 'A', 6}),
      sum_of(blocks, kSession, kSumDomain, HashUse::MacTranscript)};
  EXPECT_EQ(seen.size(), 6u);
}

}  // namespace
}  // namespace tinyot
