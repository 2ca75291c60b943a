// A matrix of bits, row-major, wiped on destruction; and the two products that turn LaBit's columns
// into MACs and keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/block.h"
#include "base/secret.h"

namespace tinyot {

class BitMatrix {
 public:
  // In memory columns are rounded up to whole groups of 512; the bits beyond `columns` are
  // unspecified.
  static constexpr std::size_t kColumnGroup = 512;

  BitMatrix() = default;
  BitMatrix(std::size_t rows, std::size_t columns)
      : rows_(rows), columns_(columns),
        row_words_((columns + kColumnGroup - 1) / kColumnGroup * (kColumnGroup / 64)),
        words_(rows * row_words_) {}

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  std::size_t row_words() const { return row_words_; }

  std::span<std::uint64_t> row(std::size_t r) {
    return std::span(words_).subspan(r * row_words_, row_words_);
  }
  std::span<const std::uint64_t> row(std::size_t r) const {
    return std::span(words_).subspan(r * row_words_, row_words_);
  }
  std::span<Block> row_blocks(std::size_t r) {
    return {reinterpret_cast<Block*>(words_.data() + r * row_words_), row_words_ / 2};
  }
  std::span<std::uint64_t> words() { return words_; }
  std::span<const std::uint64_t> words() const { return words_; }

 private:
  std::size_t rows_ = 0, columns_ = 0, row_words_ = 0;
  SecretVector<std::uint64_t> words_;
};

// The left factor of products over GF(2): a public matrix of 128 rows, prepared once for many right
// factors. Its bits select table entries (method of four Russians, four rows of the right factor at
// a time).
class LeftFactor {
 public:
  static constexpr std::size_t kTables = 16;  // of 16 entries each, for the 64 rows of a pass
  // The entries that one row of the factor selects in one pass, as byte offsets from the first
  // table.
  struct Selection {
    std::uint16_t offsets[kTables];
  };

  // Shapes: 128 x t.
  explicit LeftFactor(const BitMatrix& left);

  // product = left . right.
  // Shapes: right t x n, product 128 x n (all columns of the padded rows are computed).
  // Timing: depends on the shapes and on the factor, not on `right`.
  void multiply(const BitMatrix& right, BitMatrix& product) const;

 private:
  std::size_t columns_;
  std::vector<Selection> selections_;  // ordered by pass, then by row
};

// Column first + j of a matrix of 128 rows becomes block j, row r its bit r.
// Shapes: matrix 128 x n, first a multiple of 64, first + number of blocks <= n.
void transpose_to_blocks(const BitMatrix& matrix, std::size_t first, std::span<Block> columns);
inline void transpose_to_blocks(const BitMatrix& matrix, std::span<Block> columns) {
  transpose_to_blocks(matrix, 0, columns);
}
// The inverse: other columns stay as they are.
// Shapes: as above, and the number of blocks is a multiple of 64.
void transpose_to_rows(std::span<const Block> columns, std::size_t first, BitMatrix& matrix);

}  // namespace tinyot
