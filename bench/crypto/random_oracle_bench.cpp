// RO over a long stream, as for EQ's digests, and uniform permutations.
//
// Lower bound of the digest: SHA-256 with its instructions is 32 dependent double rounds per
// 64-byte block, 4 cycles each: 2 cycles per byte. Lower bound of a permutation: four random bytes,
// a swap of two words, and one word scattered: 3 cycles per element.
#include <benchmark/benchmark.h>

#include "bench/clock.h"
#include "crypto/public_coins.h"
#include "crypto/random_oracle.h"

namespace tinyot {
namespace {

using namespace crypto;

void digest_stream(benchmark::State& state) {
  const std::vector<std::byte> row(1024);
  RandomOracle oracle({}, {crypto::Phase::unregistered("bench"), '*', 0});
  for (auto _ : state) oracle.absorb(row);
  bench::report_against_bound(state, static_cast<double>(row.size()), 2);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(row.size()));
}
BENCHMARK(digest_stream);

void permutation(benchmark::State& state) {
  PublicSeed seed{};
  for (auto _ : state) {
    ++seed[0];
    benchmark::DoNotOptimize(permutation_from({}, {crypto::Phase::unregistered("bench"), '*', 0},
                                              seed, static_cast<std::uint32_t>(state.range(0))));
  }
  bench::report_against_bound(state, static_cast<double>(state.range(0)), 3);
}
BENCHMARK(permutation)->Arg(1 << 14)->Arg(3 << 20);

}  // namespace
}  // namespace tinyot
