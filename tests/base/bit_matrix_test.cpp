// Product and transposition of BitMatrix against naive ones, on every instruction set of the
// processor.
#include "base/bit_matrix.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <random>

#include "base/bit_vector.h"
#include "tests/support/every_target.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using test::EveryTarget;

constexpr std::size_t kColumns[] = {1, 127, 128, 129, 511, 512, 513, 1023, 1024, 1025};
constexpr std::size_t kRows[] = {1, 63, 64, 65, 342, 939};

BitMatrix random_matrix(std::size_t rows, std::size_t columns, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  BitMatrix matrix(rows, columns);
  for (std::uint64_t& word : matrix.words()) word = engine();
  return matrix;
}

// Row r of the product is the sum of the rows of `right` that row r of `left` selects.
BitMatrix multiply_naively(const BitMatrix& left, const BitMatrix& right) {
  BitMatrix product(left.rows(), right.columns());
  for (std::uint64_t& word : product.words()) word = 0;
  for (std::size_t r = 0; r < left.rows(); ++r)
    for (std::size_t t = 0; t < left.columns(); ++t)
      if (get_bit(left.row(r), t))
        for (std::size_t w = 0; w < right.row_words(); ++w) product.row(r)[w] ^= right.row(t)[w];
  return product;
}

TEST_F(EveryTarget, MultiplyEqualsTheNaiveProduct) {
  for (const std::size_t columns : kColumns) {
    for (const std::size_t rows : kRows) {
      const BitMatrix left = random_matrix(128, rows, rows),
                      right = random_matrix(rows, columns, columns);
      const BitMatrix expected = multiply_naively(left, right);
      for_each_target([&] {
        BitMatrix product = random_matrix(128, columns, 99);
        LeftFactor(left).multiply(right, product);
        for (std::size_t r = 0; r < 128; ++r)
          for (std::size_t j = 0; j < columns; ++j)
            ASSERT_EQ(get_bit(product.row(r), j), get_bit(expected.row(r), j))
                << rows << " x " << columns << " at " << r << ", " << j;
      });
    }
  }
}

TEST_F(EveryTarget, MultiplyByZeroAndByUnitRows) {
  const BitMatrix right = random_matrix(342, 513, 5);
  for_each_target([&] {
    BitMatrix left = random_matrix(128, 342, 1), product(128, 513);
    for (std::uint64_t& word : left.words()) word = 0;
    for (std::size_t r = 1; r < 128; ++r) put_bit(left.row(r), 2 * r + 80, true);
    LeftFactor(left).multiply(right, product);
    for (std::size_t j = 0; j < 513; ++j) {
      ASSERT_FALSE(get_bit(product.row(0), j));
      for (std::size_t r = 1; r < 128; ++r)
        ASSERT_EQ(get_bit(product.row(r), j), get_bit(right.row(2 * r + 80), j));
    }
  });
}

TEST_F(EveryTarget, TransposeEqualsTheNaiveTranspose) {
  for (const std::size_t columns : kColumns) {
    const BitMatrix matrix = random_matrix(128, columns, columns);
    for_each_target([&] {
      std::vector<Block> blocks(columns);
      transpose_to_blocks(matrix, blocks);
      for (std::size_t j = 0; j < columns; ++j)
        for (std::size_t r = 0; r < 128; ++r)
          ASSERT_EQ(((r < 64 ? blocks[j].lo : blocks[j].hi) >> (r % 64)) & 1,
                    get_bit(matrix.row(r), j) ? 1u : 0u)
              << r << ", " << j;
    });
  }
}

TEST_F(EveryTarget, TransposeOfAPartLeavesTheRestUnchanged) {
  const BitMatrix matrix = random_matrix(128, 200, 7);
  for_each_target([&] {
    std::vector<Block> all(200), some(131, Block{1, 2});
    transpose_to_blocks(matrix, all);
    transpose_to_blocks(matrix, std::span(some).first(129));
    for (std::size_t j = 0; j < 129; ++j)
      EXPECT_TRUE(all[j].lo == some[j].lo && all[j].hi == some[j].hi);
    for (std::size_t j = 129; j < 131; ++j) EXPECT_TRUE(some[j].lo == 1 && some[j].hi == 2);
  });
}

TEST_F(EveryTarget, TransposeOfAWindowIsThatPartOfTheWhole) {
  for (const std::size_t columns : {200u, 512u, 1025u, 1600u}) {
    const BitMatrix matrix = random_matrix(128, columns, columns);
    std::vector<Block> all(columns);
    transpose_to_blocks(matrix, all);
    for_each_target([&] {
      for (std::size_t first = 0; first < columns; first += 64) {
        for (const std::size_t count : {std::size_t{1}, std::size_t{63}, std::size_t{64},
                                        std::size_t{130}, columns - first}) {
          if (first + count > columns) continue;
          std::vector<Block> part(count);
          transpose_to_blocks(matrix, first, part);
          for (std::size_t j = 0; j < count; ++j)
            ASSERT_TRUE(part[j].lo == all[first + j].lo && part[j].hi == all[first + j].hi)
                << first << " + " << j;
        }
      }
    });
  }
}

TEST_F(EveryTarget, TransposeToRowsIsTheInverseAndLeavesOtherColumnsUnchanged) {
  for (const std::size_t columns : {64u, 192u, 512u, 576u, 1088u, 1600u}) {
    const BitMatrix matrix = random_matrix(128, columns, columns),
                    before = random_matrix(128, columns, columns + 1);
    for_each_target([&] {
      for (std::size_t first = 0; first < columns; first += 64) {
        for (std::size_t count = 0; first + count <= columns; count += 64) {
          std::vector<Block> part(count);
          transpose_to_blocks(matrix, first, part);
          BitMatrix target = before;
          transpose_to_rows(part, first, target);
          for (std::size_t r = 0; r < 128; ++r)
            for (std::size_t word = 0; word < target.row_words(); ++word)
              ASSERT_EQ(target.row(r)[word],
                        (word >= first / 64 && word < (first + count) / 64 ? matrix : before)
                            .row(r)[word])
                  << r << ", " << word << ": " << first << " + " << count;
        }
      }
    });
  }
}

TEST(BitMatrix, RejectsWrongShapes) {
  BitMatrix left = random_matrix(128, 64, 1), right = random_matrix(65, 128, 2), product(128, 128);
  EXPECT_THROW(LeftFactor(left).multiply(right, product), std::logic_error);
  std::vector<Block> too_many(129);
  EXPECT_THROW(transpose_to_blocks(product, too_many), std::logic_error);
  EXPECT_THROW(transpose_to_blocks(BitMatrix(127, 128), std::span(too_many).first(1)),
               std::logic_error);
  const std::vector<Block> columns(64);
  EXPECT_THROW(transpose_to_rows(columns, 128, product), std::logic_error);
  EXPECT_THROW(transpose_to_rows(columns, 32, product), std::logic_error);
  EXPECT_THROW(transpose_to_rows(std::span(columns).first(63), 0, product), std::logic_error);
}

}  // namespace
}  // namespace tinyot
