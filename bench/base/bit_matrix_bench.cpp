// Privacy amplification and transposition, per authenticated bit.
//
// Lower bound of the product, computed by hand for tau = 939: four rows at a time, ceil(939 / 4) =
// 235 table look-ups of one bit in each of 128 rows, and 15 sums to build each table: (128 + 15)
// 235 = 33,605 bit operations per authenticated bit, 131 loads of 256 bits, 66 cycles at two loads
// per cycle.
//
// Lower bound of the transposition: six operations for each of 32 pairs of rows on each of six
// levels, 1,152 for a 64 x 64 matrix in each of the four lanes of 256 bits; two such matrices make
// 64 blocks: 9 operations per column, 3 cycles at three per cycle.
#include <benchmark/benchmark.h>

#include <cmath>

#include "base/bit_matrix.h"
#include "bench/clock.h"
#include "crypto/rng.h"

namespace tinyot {
namespace {

using namespace crypto;

constexpr std::size_t kColumns = 4096;

BitMatrix random_matrix(std::size_t rows, std::size_t columns) {
  Rng rng(Seed{{rows, columns}});
  BitMatrix matrix(rows, columns);
  rng.fill(std::as_writable_bytes(matrix.words()));
  return matrix;
}

void amplification(benchmark::State& state) {
  const auto tau = static_cast<std::size_t>(state.range(0));
  const BitMatrix r = random_matrix(128, tau), rows = random_matrix(tau, kColumns);
  const LeftFactor left(r);
  BitMatrix product(128, kColumns);
  for (auto _ : state) {
    left.multiply(rows, product);
    benchmark::DoNotOptimize(product.words().data());
  }
  const double tables = std::ceil(static_cast<double>(tau) / 4);
  bench::report_against_bound(state, kColumns, (128 + 15) * tables / 256 / 2);
}
BENCHMARK(amplification)->Arg(939)->Arg(342);

void transposition(benchmark::State& state) {
  const BitMatrix matrix = random_matrix(128, kColumns);
  std::vector<Block> blocks(kColumns);
  for (auto _ : state) {
    transpose_to_blocks(matrix, blocks);
    benchmark::DoNotOptimize(blocks.data());
  }
  bench::report_against_bound(state, kColumns, 3);
}
BENCHMARK(transposition);

}  // namespace
}  // namespace tinyot
