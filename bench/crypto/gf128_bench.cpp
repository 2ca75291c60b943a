// Sums of products in GF(2^128), by which LaBit's check compresses its rows.
//
// Lower bound: three carry-less products per block of 16 bytes. A core that starts one every two
// cycles needs 6 cycles per block, half of that with instructions on 256 bits.
#include <benchmark/benchmark.h>

#include <vector>

#include "bench/clock.h"
#include "crypto/gf128.h"
#include "crypto/gf128_vpclmul.h"

namespace tinyot {
namespace {

using namespace crypto;

void sum_of_products(benchmark::State& state) {
  const std::vector<Block> a(32, Block{1, 2}), b(32, Block{3, 4});
  WideBlock sum{};
  for (auto _ : state) {
    add_products(a, b, sum);
    benchmark::DoNotOptimize(sum);
  }
  bench::report_against_bound(state, static_cast<double>(a.size()), vpclmul::is_usable() ? 3 : 6);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(a.size() * sizeof(Block)));
}
BENCHMARK(sum_of_products);

}  // namespace
}  // namespace tinyot
