// Sums of products in GF(2^128), as LaBit's check compresses its rows.
//
// Floor: three carry-less products a block of 16 bytes. A core that starts one every two cycles needs 6 cycles a block, and a
// fraction of that where they work on whole vectors.
#include <benchmark/benchmark.h>

#include <vector>

#include "crypto/gf128.h"

namespace tinyot {
namespace {

void sum_of_products(benchmark::State& state) {
  const std::vector<Block> a(32, Block{1, 2}), b(32, Block{3, 4});
  WideBlock sum{};
  for (auto _ : state) {
    add_products(a, b, sum);
    benchmark::DoNotOptimize(sum);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(a.size() * sizeof(Block)));
}
BENCHMARK(sum_of_products);

}  // namespace
}  // namespace tinyot
