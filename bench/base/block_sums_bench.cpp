// Sums over arrays of blocks, as the online phase computes them for every wire. Array lengths are
// those of a tile and of a chunk of ANDs.
//
// Lower bound, at two loads of 256 bits, one store and three operations per cycle: a sum of two
// arrays takes two loads and a store for two blocks, half a cycle per block; a sum of an array and
// a block one load and a store, also half a cycle per block; a product by a triple five loads of
// blocks, two of masks and three stores for two entries, 1.75 cycles per entry.
#include <benchmark/benchmark.h>

#include <vector>

#include "base/block_sums.h"
#include "bench/clock.h"
#include "crypto/rng.h"

namespace tinyot {
namespace {

using namespace crypto;

constexpr Block kKey{0x0123456789abcdef, 0xfedcba9876543211};

std::vector<Block> random_blocks(std::size_t count, std::uint64_t seed) {
  Rng rng(Seed{{count, seed}});
  std::vector<Block> blocks(count);
  rng.fill_blocks(std::span(blocks));
  return blocks;
}

void sum_of_arrays(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  const auto x = random_blocks(n, 1), y = random_blocks(n, 2);
  std::vector<Block> out(n);
  for (auto _ : state) {
    xor_blocks(x, y.data(), out.data());
    benchmark::DoNotOptimize(out.data());
  }
  bench::report_against_bound(state, static_cast<double>(n), 0.5);
}
BENCHMARK(sum_of_arrays)->Arg(1)->Arg(64)->Arg(512);

void sum_with_a_block(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  const auto x = random_blocks(n, 1);
  std::vector<Block> out(n);
  for (auto _ : state) {
    xor_block_to_each(x, kKey, out.data());
    benchmark::DoNotOptimize(out.data());
  }
  bench::report_against_bound(state, static_cast<double>(n), 0.5);
}
BENCHMARK(sum_with_a_block)->Arg(64)->Arg(512);

void products_by_triples(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  const auto x = random_blocks(n, 1), y = random_blocks(n, 2), a = random_blocks(n, 3),
             b = random_blocks(n, 4), c = random_blocks(n, 5);
  const std::vector<std::uint64_t> d(n / 64 + 1, 0x123456789abcdef0),
      e(n / 64 + 1, 0x0fedcba987654321);
  std::vector<Block> of_d(n), of_e(n), z(n);
  for (auto _ : state) {
    combine_triples({x.data(), y.data(), a.data(), b.data(), c.data(), d.data(), e.data(),
                     of_d.data(), of_e.data(), z.data()},
                    n, kKey);
    benchmark::DoNotOptimize(z.data());
    benchmark::DoNotOptimize(of_d.data());
    benchmark::DoNotOptimize(of_e.data());
  }
  bench::report_against_bound(state, static_cast<double>(n), 1.75);
}
BENCHMARK(products_by_triples)->Arg(64)->Arg(256);

}  // namespace
}  // namespace tinyot
