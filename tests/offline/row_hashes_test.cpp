// The hashes of rows that LaBit's check compares.
#include "offline/softspoken/row_hashes.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/layers.h"
#include "tests/support/oracle.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr std::size_t kBlocks = 40;
const Domain kDomain{crypto::Phase::unregistered("test"), 'A', 0};

std::vector<Block> random_row(std::uint64_t seed) {
  Rng rng(Seed{{seed, 77}});
  std::vector<Block> row(kBlocks);
  rng.fill_blocks(std::span(row));
  return row;
}

Block hash_of(std::span<const Block> row, const PublicSeed& seed = {1},
              std::size_t at_a_time = kBlocks) {
  RowHashes hashes({}, kDomain, seed, 1);
  for (std::size_t first = 0; first < row.size(); first += at_a_time) {
    const auto part = row.subspan(first, std::min(at_a_time, row.size() - first));
    hashes.begin(first, part.size());
    hashes.absorb(0, part);
  }
  return hashes.of(0);
}

TEST(RowHashes, DependOnEveryBit) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  std::vector<Block> row = random_row(1);
  for (Block& block : row) {
    for (std::size_t bit = 0; bit < 128; ++bit) {
      const Block changed =
          bit < 64 ? Block{std::uint64_t{1} << bit, 0} : Block{0, std::uint64_t{1} << (bit - 64)};
      block ^= changed;
      const Block hash = hash_of(row);
      EXPECT_TRUE(seen.emplace(hash.lo, hash.hi).second);
      block ^= changed;
    }
  }
}

TEST(RowHashes, AreLinear) {
  const auto a = random_row(2), b = random_row(3);
  std::vector<Block> sum = a;
  for (std::size_t i = 0; i < kBlocks; ++i) sum[i] ^= b[i];
  EXPECT_TRUE(same(hash_of(sum), hash_of(a) ^ hash_of(b)));
}

TEST(RowHashes, DoNotDependOnTheChunks) {
  const auto row = random_row(4);
  for (const std::size_t at_a_time : {1u, 7u, 16u, 39u})
    EXPECT_TRUE(same(hash_of(row, {1}, at_a_time), hash_of(row)));
}

TEST(RowHashes, ChiDependsOnTheSeed) {
  EXPECT_FALSE(same(hash_of(random_row(5), {1}), hash_of(random_row(5), {2})));
}

// Two swapped blocks give another hash, since the chi_j differ.
TEST(RowHashes, DependOnPositions) {
  std::vector<Block> row = random_row(6);
  const Block before = hash_of(row);
  std::swap(row[3], row[4]);
  EXPECT_FALSE(same(hash_of(row), before));
}

}  // namespace
}  // namespace tinyot
