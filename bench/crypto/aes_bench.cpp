// AES kernels, per block of 16 bytes.
//
// Lower bound: ten rounds per block; a core that starts two 128-bit rounds per cycle needs 5 cycles
// per block, half of that with VAES on 256 bits. A hash is two encryptions. A key expansion is ten
// dependent rounds of 4 cycles each.
#include <benchmark/benchmark.h>

#include "bench/clock.h"
#include "crypto/aes.h"
#include "crypto/aes_vaes.h"

namespace tinyot {
namespace {

using namespace crypto;

// Two 128-bit rounds start per cycle; VAES doubles that.
double cycles_per_block() { return vaes::is_usable() ? 2.5 : 5; }

void counter_mode(benchmark::State& state) {
  const AesKey key = expand_key({1, 2});
  std::vector<Block> blocks(static_cast<std::size_t>(state.range(0)), Block{0, 0});
  std::uint64_t counter = 0;
  for (auto _ : state) {
    ctr_xor(key, {counter++, 0}, blocks);
    benchmark::DoNotOptimize(blocks.data());
  }
  bench::report_against_bound(state, static_cast<double>(state.range(0)), cycles_per_block());
  state.SetBytesProcessed(state.iterations() * state.range(0) * 16);
}
BENCHMARK(counter_mode)->Arg(64)->Arg(1024);

void hash(benchmark::State& state) {
  const AesKey key = expand_key({1, 2});
  std::vector<Block> blocks(static_cast<std::size_t>(state.range(0)), Block{3, 4});
  for (auto _ : state) {
    tweaked_hash(key, {0, 1}, blocks, blocks);
    benchmark::DoNotOptimize(blocks.data());
  }
  bench::report_against_bound(state, static_cast<double>(state.range(0)), 2 * cycles_per_block());
}
BENCHMARK(hash)->Arg(1024);

void key_expansion(benchmark::State& state) {
  AesKey key = expand_key({1, 2});
  for (auto _ : state) {
    key = expand_key(key.round_keys[3]);
    benchmark::DoNotOptimize(key);
  }
  bench::report_against_bound(state, 1, 40);
}
BENCHMARK(key_expansion);

}  // namespace
}  // namespace tinyot
