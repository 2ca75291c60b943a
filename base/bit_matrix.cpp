#include "base/bit_matrix.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "base/bit_matrix.cpp"
#include "base/error.h"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"  // recompiles this file once for each target
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tinyot {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A tile is one group of 512 columns: 64 bytes of each row. The sixteen tables of a pass (64 rows
// of `right`) take 16 KiB.
constexpr std::size_t kTileBytes = BitMatrix::kColumnGroup / 8;
constexpr std::size_t kTables = LeftFactor::kTables;
using Selection = LeftFactor::Selection;
using Tile = std::uint8_t[kTileBytes];

struct alignas(64) Tables {
  Tile entry[kTables][16];
};

HWY_INLINE void xor_tiles(const std::uint8_t* HWY_RESTRICT a, const std::uint8_t* HWY_RESTRICT b,
                          std::uint8_t* HWY_RESTRICT out) {
  const hn::CappedTag<std::uint8_t, kTileBytes> d;
  for (std::size_t at = 0; at < kTileBytes; at += hn::Lanes(d))
    hn::Store(hn::Xor(hn::Load(d, a + at), hn::Load(d, b + at)), d, out + at);
}

// entry[n][i] = sum of the rows 4n + j of this pass whose bit j is set in i; rows beyond `rows`
// count as zero.
HWY_INLINE void build_tables(const std::uint8_t* HWY_RESTRICT first_row, std::size_t row_bytes,
                             std::size_t rows, Tables& tables) {
  alignas(64) Tile zero = {};
  // The rows of the next pass are far apart in memory; they are prefetched during this one.
  for (std::size_t row = 64; row < HWY_MIN(rows, std::size_t{128}); ++row)
    hwy::Prefetch(first_row + row * row_bytes);
  for (std::size_t n = 0; n < kTables; ++n) {
    xor_tiles(zero, zero, tables.entry[n][0]);
    for (std::size_t j = 0; j < 4; ++j) {
      const std::size_t row = 4 * n + j;
      const std::uint8_t* source = row < rows ? first_row + row * row_bytes : zero;
      for (std::size_t i = 0; i < (std::size_t{1} << j); ++i)
        xor_tiles(tables.entry[n][i], source, tables.entry[n][i | (1 << j)]);
    }
  }
}

// out (+)= the sum of the rows of this pass that `selection` selects. The tile stays in registers.
HWY_INLINE void add_selected(const Tables& tables, const Selection& selection, bool first_pass,
                             std::uint8_t* HWY_RESTRICT out) {
  const hn::CappedTag<std::uint8_t, kTileBytes> d;
  constexpr std::size_t kWidth = hn::MaxLanes(d), kVectors = kTileBytes / kWidth;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&tables);
  hn::Vec<decltype(d)> sum[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v)
    sum[v] = first_pass ? hn::Zero(d) : hn::Load(d, out + v * kWidth);
    // Not unrolled further: there would be more addresses than registers, which would be spilled to
    // memory.
#pragma GCC unroll 2
  for (std::size_t n = 0; n < kTables; ++n) {
    const std::uint8_t* entry = bytes + selection.offsets[n];
    for (std::size_t v = 0; v < kVectors; ++v)
      sum[v] = hn::Xor(sum[v], hn::Load(d, entry + v * kWidth));
  }
  for (std::size_t v = 0; v < kVectors; ++v) hn::Store(sum[v], d, out + v * kWidth);
}

void multiply(std::span<const Selection> selections, const BitMatrix& right, BitMatrix& product) {
  const std::size_t row_bytes = right.row_words() * 8, rows = product.rows();
  const auto* right_bytes = reinterpret_cast<const std::uint8_t*>(right.words().data());
  auto* product_bytes = reinterpret_cast<std::uint8_t*>(product.words().data());
  Tables tables;
  // The tiles of all rows of the product, contiguous: strides of a power of two, as between rows of
  // a matrix, cause cache conflicts.
  SecretVector<std::uint8_t> sums(rows * kTileBytes);
  for (std::size_t tile = 0; tile < row_bytes; tile += kTileBytes) {
    for (std::size_t pass = 0; pass * rows < selections.size(); ++pass) {
      build_tables(right_bytes + pass * 64 * row_bytes + tile, row_bytes, right.rows() - pass * 64,
                   tables);
      for (std::size_t r = 0; r < rows; ++r)
        add_selected(tables, selections[pass * rows + r], pass == 0, sums.data() + r * kTileBytes);
    }
    for (std::size_t r = 0; r < rows; ++r)
      std::memcpy(product_bytes + r * row_bytes + tile, sums.data() + r * kTileBytes, kTileBytes);
  }
  wipe(&tables, sizeof tables);
}

// As many 64 x 64 bit matrices as a vector has lanes are transposed at a time, by exchanging
// off-diagonal squares of decreasing size: lane i of row r is row r of matrix i. Squares of 32, 16
// and 8 bits are exchanged among rows that are 8 apart, those of 4, 2 and 1 among 8 neighbouring
// rows. So 8 rows at a time stay in registers for three exchanges.
template <int kHalf, class D, class V>
HWY_INLINE void exchange_squares(D d, V& upper, V& lower) {
  constexpr std::uint64_t kMask = ~std::uint64_t{0} / ((std::uint64_t{1} << kHalf) + 1);
  const V swapped = hn::And(hn::Xor(hn::ShiftRight<kHalf>(upper), lower), hn::Set(d, kMask));
  upper = hn::Xor(upper, hn::ShiftLeft<kHalf>(swapped));
  lower = hn::Xor(lower, swapped);
}

// Rows r, r + step, ..., r + 7 step, where kSquare = 4 step is the largest square.
template <int kSquare, class D, class V>
HWY_INLINE void exchange_three(D d, V (&rows)[8]) {
  for (std::size_t i = 0; i < 4; ++i) exchange_squares<kSquare>(d, rows[i], rows[i + 4]);
  for (const std::size_t i : {0, 1, 4, 5}) exchange_squares<kSquare / 2>(d, rows[i], rows[i + 2]);
  for (const std::size_t i : {0, 2, 4, 6}) exchange_squares<kSquare / 4>(d, rows[i], rows[i + 1]);
}

// Reads the rows of one half of the matrix, `step` words apart.
template <class D, class V>
HWY_INLINE void transpose_lanes(D d, const std::uint64_t* HWY_RESTRICT first_row, std::size_t step,
                                V* HWY_RESTRICT rows) {
  for (std::size_t r = 0; r < 8; ++r) {
    V some[8];
    for (std::size_t i = 0; i < 8; ++i) some[i] = hn::LoadU(d, first_row + (r + 8 * i) * step);
    exchange_three<32>(d, some);
    for (std::size_t i = 0; i < 8; ++i) rows[r + 8 * i] = some[i];
  }
  for (std::size_t r = 0; r < 64; r += 8) {
    V some[8];
    for (std::size_t i = 0; i < 8; ++i) some[i] = rows[r + i];
    exchange_three<4>(d, some);
    for (std::size_t i = 0; i < 8; ++i) rows[r + i] = some[i];
  }
}

void transpose_to_blocks(const BitMatrix& matrix, std::size_t first, Block* columns,
                         std::size_t count) {
  const hn::CappedTag<std::uint64_t, 8> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t lanes = hn::Lanes(d), row_words = matrix.row_words();
  constexpr std::size_t kMaxLanes = hn::MaxLanes(d);
  V halves[2][64];
  alignas(64) Block blocks[kMaxLanes];  // one column of each matrix
  for (std::size_t done = 0; done < count;) {
    // Whole vectors are read; at the end of a row, the vector that ends with its last word.
    const std::size_t word = (first + done) / 64, begin = HWY_MIN(word, row_words - lanes),
                      stale = word - begin;
    for (std::size_t half = 0; half < 2; ++half)
      transpose_lanes(d, matrix.words().data() + 64 * half * row_words + begin, row_words,
                      halves[half]);
    Block* const out = columns + done;
    const std::size_t left = count - done;
    // Prefetches the destination of the next vectors.
    for (std::size_t ahead = 64 * kMaxLanes; ahead < HWY_MIN(left, 128 * kMaxLanes); ahead += 4)
      hwy::Prefetch(out + ahead);
    for (std::size_t j = 0; j < 64; ++j) {
      hn::StoreInterleaved2(halves[0][j], halves[1][j], d,
                            reinterpret_cast<std::uint64_t*>(blocks));
      if (stale == 0 && left >= 64 * kMaxLanes) {
        for (std::size_t lane = 0; lane < kMaxLanes; ++lane) out[64 * lane + j] = blocks[lane];
      } else {
        for (std::size_t lane = stale; lane < lanes && 64 * (lane - stale) + j < left; ++lane)
          out[64 * (lane - stale) + j] = blocks[lane];
      }
    }
    done += HWY_MIN(64 * (lanes - stale), left);
  }
  wipe(halves, sizeof halves);
  wipe(blocks, sizeof blocks);
}

void transpose_to_rows(const Block* columns, std::size_t count, std::size_t first,
                       BitMatrix& matrix) {
  const hn::CappedTag<std::uint64_t, 8> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::size_t kMaxLanes = hn::MaxLanes(d);
  const std::size_t lanes = hn::Lanes(d), row_words = matrix.row_words();
  alignas(64) std::uint64_t halves[2][64][kMaxLanes] = {};
  alignas(64) Block blocks[kMaxLanes] = {};  // one column of each matrix
  V rows[64];
  for (std::size_t done = 0; done < count; done += 64 * lanes) {
    const std::size_t matrices = HWY_MIN(lanes, (count - done) / 64);
    for (std::size_t j = 0; j < 64; ++j) {
      for (std::size_t lane = 0; lane < matrices; ++lane)
        blocks[lane] = columns[done + 64 * lane + j];
      V low, high;
      hn::LoadInterleaved2(d, reinterpret_cast<const std::uint64_t*>(blocks), low, high);
      hn::Store(low, d, halves[0][j]);
      hn::Store(high, d, halves[1][j]);
    }
    for (std::size_t half = 0; half < 2; ++half) {
      transpose_lanes(d, halves[half][0], kMaxLanes, rows);
      std::uint64_t* out = matrix.words().data() + 64 * half * row_words + (first + done) / 64;
      for (std::size_t r = 0; r < 64; ++r, out += row_words) {
        if (matrices == lanes) {
          hn::StoreU(rows[r], d, out);
        } else {
          hn::Store(rows[r], d, halves[half][r]);
          std::memcpy(out, halves[half][r], matrices * sizeof(std::uint64_t));
        }
      }
    }
  }
  wipe(rows, sizeof rows);
  wipe(halves, sizeof halves);
  wipe(blocks, sizeof blocks);
}

}  // namespace HWY_NAMESPACE
}  // namespace tinyot
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tinyot {
HWY_EXPORT(multiply);

LeftFactor::LeftFactor(const BitMatrix& left) : columns_(left.columns()) {
  ENSURE(left.rows() == kKappa);
  const std::size_t passes = (columns_ + 63) / 64;
  selections_.reserve(passes * left.rows());
  for (std::size_t pass = 0; pass < passes; ++pass) {
    for (std::size_t r = 0; r < left.rows(); ++r) {
      Selection& selection = selections_.emplace_back();
      for (std::size_t n = 0; n < kTables; ++n)
        selection.offsets[n] = static_cast<std::uint16_t>(
            (n * 16 + ((left.row(r)[pass] >> (4 * n)) & 15)) * (BitMatrix::kColumnGroup / 8));
    }
  }
}

void LeftFactor::multiply(const BitMatrix& right, BitMatrix& product) const {
  ENSURE(columns_ == right.rows() && product.rows() == kKappa);
  ENSURE(product.row_words() == right.row_words());
  HWY_DYNAMIC_DISPATCH(multiply)(selections_, right, product);
}

HWY_EXPORT(transpose_to_blocks);

void transpose_to_blocks(const BitMatrix& matrix, std::size_t first, std::span<Block> columns) {
  ENSURE(matrix.rows() == kKappa && first % 64 == 0 && first + columns.size() <= matrix.columns());
  HWY_DYNAMIC_DISPATCH(transpose_to_blocks)(matrix, first, columns.data(), columns.size());
}

HWY_EXPORT(transpose_to_rows);

void transpose_to_rows(std::span<const Block> columns, std::size_t first, BitMatrix& matrix) {
  ENSURE(matrix.rows() == kKappa && first % 64 == 0 && columns.size() % 64 == 0 &&
         first + columns.size() <= matrix.columns());
  HWY_DYNAMIC_DISPATCH(transpose_to_rows)(columns.data(), columns.size(), first, matrix);
}

}  // namespace tinyot
#endif  // HWY_ONCE
