// Privacy amplification and transposition, per authenticated bit.
//
// Floor of the product, counted on paper for tau = 939: four rows at a time, ceil(939 / 4) = 235 table look-ups of one bit in
// each of 128 rows, and 15 sums to build each table: (128 + 15) 235 = 33,605 bit operations an authenticated bit, 131 loads of
// 256 bits, 66 cycles at two loads a cycle.
#include <benchmark/benchmark.h>

#include "base/bit_matrix.h"
#include "crypto/rng.h"

namespace tinyot {
namespace {

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
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kColumns));
}
BENCHMARK(amplification)->Arg(939)->Arg(342);

void transposition(benchmark::State& state) {
  const BitMatrix matrix = random_matrix(128, kColumns);
  std::vector<Block> blocks(kColumns);
  for (auto _ : state) {
    transpose_to_blocks(matrix, blocks);
    benchmark::DoNotOptimize(blocks.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kColumns));
}
BENCHMARK(transposition);

}  // namespace
}  // namespace tinyot
