// RO over a long stream, as EQ's digests are made, and uniform permutations.
#include <benchmark/benchmark.h>

#include "crypto/public_coins.h"
#include "crypto/random_oracle.h"

namespace tinyot {
namespace {

void digest_stream(benchmark::State& state) {
  const std::vector<std::byte> row(1024);
  RandomOracle oracle({}, {"bench", '*', 0});
  for (auto _ : state) oracle.absorb(row);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(row.size()));
}
BENCHMARK(digest_stream);

void permutation(benchmark::State& state) {
  PublicSeed seed{};
  for (auto _ : state) {
    ++seed[0];
    benchmark::DoNotOptimize(permutation_from({}, {"bench", '*', 0}, seed, static_cast<std::uint32_t>(state.range(0))));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(permutation)->Arg(1 << 14)->Arg(3 << 20);

}  // namespace
}  // namespace tinyot
