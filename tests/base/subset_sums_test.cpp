// The sums over the leaves of a tree against their definition, on every instruction set of the
// processor.
#include "base/subset_sums.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <vector>

#include "tests/support/blocks.h"
#include "tests/support/every_target.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using test::EveryTarget;
using test::random_blocks;
using test::same;

constexpr std::uint32_t kTreeBits[] = {1, 2, 4};
constexpr std::size_t kRowLengths[] = {1, 2, 3, 99, 100};
constexpr Block kGuard{0x1122334455667788, 0x99aabbccddeeff00};

using Blocks = std::vector<Block>;

// Block j of the sum of the leaves x with chosen(x).
template <class Chosen>
Block sum_at(const Blocks& leaves, std::size_t n, std::size_t j, Chosen chosen) {
  Block sum{0, 0};
  for (std::size_t x = 0; x * n < leaves.size(); ++x)
    if (chosen(x)) sum ^= leaves[x * n + j];
  return sum;
}

// k rows of n blocks, each followed by a guard block.
struct Rows {
  Rows(std::uint32_t k, std::size_t n) : blocks(k, Blocks(n + 1, kGuard)) {
    for (Blocks& row : blocks) pointers.push_back(row.data());
  }
  std::vector<Blocks> blocks;
  std::vector<Block*> pointers;
};

void expect_total(const Blocks& leaves, const Blocks& addend, const Blocks& total) {
  const std::size_t n = total.size() - 1;
  for (std::size_t j = 0; j < n; ++j) {
    Block sum = sum_at(leaves, n, j, [](std::size_t) { return true; });
    if (!addend.empty()) sum ^= addend[j];
    ASSERT_TRUE(same(total[j], sum)) << "total, block " << j << " of " << n;
  }
  ASSERT_TRUE(same(total[n], kGuard)) << "written beyond the total of " << n;
}

void expect_rows(const Blocks& leaves, const Blocks& addend, std::uint32_t selected,
                 const Rows& rows) {
  for (std::size_t b = 0; b < rows.blocks.size(); ++b) {
    const Blocks& row = rows.blocks[b];
    const std::size_t n = row.size() - 1;
    for (std::size_t j = 0; j < n; ++j) {
      Block sum = sum_at(leaves, n, j, [&](std::size_t x) { return (x >> b) & 1; });
      if ((selected >> b) & 1) sum ^= addend[j];
      ASSERT_TRUE(same(row[j], sum))
          << "row " << b << ", block " << j << " of " << n << ", selected " << selected;
    }
    ASSERT_TRUE(same(row[n], kGuard)) << "written beyond row " << b << " of " << n;
  }
}

TEST_F(EveryTarget, SubsetSumsEqualTheirDefinition) {
  for (const std::uint32_t k : kTreeBits) {
    for (const std::size_t n : kRowLengths) {
      const Blocks leaves = random_blocks(n << k, 100 * k + n);
      for (const Blocks& addend : {Blocks{}, random_blocks(n, n)}) {
        for_each_target([&] {
          Blocks total(n + 1, kGuard);
          Rows rows(k, n);
          subset_sums(k, leaves, addend, std::span(total).first(n), rows.pointers);
          expect_total(leaves, addend, total);
          expect_rows(leaves, addend, 0, rows);
        });
      }
    }
  }
}

TEST_F(EveryTarget, SubsetSumsWithAddToTheSelectedRowsOnly) {
  for (const std::uint32_t k : kTreeBits) {
    for (const std::size_t n : kRowLengths) {
      const Blocks leaves = random_blocks(n << k, 200 * k + n), addend = random_blocks(n, n);
      for (std::uint32_t selected = 0; selected < (1u << k); ++selected) {
        for_each_target([&] {
          Rows rows(k, n);
          subset_sums_with(k, leaves, addend, selected, rows.pointers);
          expect_rows(leaves, addend, selected, rows);
        });
      }
    }
  }
}

// The key holder does not have the leaf r_0.
TEST_F(EveryTarget, SubsetSumsWithIgnoreTheFirstLeaf) {
  for (const std::uint32_t k : kTreeBits) {
    for (const std::size_t n : kRowLengths) {
      const Blocks addend = random_blocks(n, n);
      Blocks leaves = random_blocks(n << k, 300 * k + n), other = leaves;
      const Blocks first = random_blocks(n, 7);
      std::copy(first.begin(), first.end(), other.begin());
      for_each_target([&] {
        const std::uint32_t selected = (1u << k) - 1;
        Rows rows(k, n), others(k, n);
        subset_sums_with(k, leaves, addend, selected, rows.pointers);
        subset_sums_with(k, other, addend, selected, others.pointers);
        for (std::size_t b = 0; b < k; ++b)
          for (std::size_t j = 0; j < n; ++j)
            ASSERT_TRUE(same(rows.blocks[b][j], others.blocks[b][j])) << b << ", " << j;
      });
    }
  }
}

// Both parties' sums of one tree, with the leaves at x and at x ^ Delta: W_b = V_b ^ u.Delta_b.
TEST_F(EveryTarget, SumsOfBothPartiesDifferByTheSelectedTotal) {
  constexpr std::size_t kBlocks = 99;
  for (const std::uint32_t k : kTreeBits) {
    const Blocks leaves = random_blocks(kBlocks << k, k);
    for (std::uint32_t delta = 0; delta < (1u << k); ++delta) {
      Blocks permuted_leaves(leaves.size());
      for (std::size_t x = 0; x < (std::size_t{1} << k); ++x)
        for (std::size_t j = 0; j < kBlocks; ++j)
          permuted_leaves[x * kBlocks + j] = leaves[(x ^ delta) * kBlocks + j];
      for_each_target([&] {
        Blocks total(kBlocks);
        Rows v(k, kBlocks), w(k, kBlocks);
        subset_sums(k, leaves, {}, total, v.pointers);
        const Blocks none(kBlocks, Block{0, 0});
        subset_sums_with(k, permuted_leaves, none, delta, w.pointers);
        for (std::size_t b = 0; b < k; ++b)
          for (std::size_t j = 0; j < kBlocks; ++j)
            ASSERT_TRUE(same(w.blocks[b][j], v.blocks[b][j] ^ times(total[j], (delta >> b) & 1)))
                << "delta " << delta << ", row " << b << ", block " << j;
      });
    }
  }
}

TEST(SubsetSums, RejectsWrongShapes) {
  const Blocks leaves(16), addend(4), three(3);
  Blocks total(4);
  Rows two(2, 4), one(1, 4), three_rows(3, 4);
  EXPECT_NO_THROW(subset_sums(2, leaves, addend, total, two.pointers));
  EXPECT_NO_THROW(subset_sums_with(2, leaves, addend, 3, two.pointers));
  for (const std::uint32_t k : {0u, 3u, 5u, 8u}) {
    const Blocks leaves_of_k(std::size_t{4} << k);
    Rows rows(k, 4);
    EXPECT_THROW(subset_sums(k, leaves_of_k, {}, total, rows.pointers), std::logic_error) << k;
    EXPECT_THROW(subset_sums_with(k, leaves_of_k, addend, 0, rows.pointers), std::logic_error) << k;
  }
  for (Rows* rows : {&one, &three_rows}) {
    EXPECT_THROW(subset_sums(2, leaves, {}, total, rows->pointers), std::logic_error);
    EXPECT_THROW(subset_sums_with(2, leaves, addend, 0, rows->pointers), std::logic_error);
  }
  for (const std::size_t size : {0u, 4u, 15u, 17u, 32u}) {
    const Blocks wrong(size);
    EXPECT_THROW(subset_sums(2, wrong, {}, total, two.pointers), std::logic_error) << size;
    EXPECT_THROW(subset_sums_with(2, wrong, addend, 0, two.pointers), std::logic_error) << size;
  }
  EXPECT_THROW(subset_sums(2, leaves, three, total, two.pointers), std::logic_error);
  EXPECT_THROW(subset_sums_with(2, leaves, three, 0, two.pointers), std::logic_error);
  EXPECT_THROW(subset_sums_with(2, leaves, {}, 0, two.pointers), std::logic_error);
}

}  // namespace
}  // namespace tinyot
