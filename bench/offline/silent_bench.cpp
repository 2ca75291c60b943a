// The kernels of silent authenticated bits, per output, in the largest set: b12. An iteration makes
// each output with 2.5 expansions of trees on average, one product for the check and one row of the
// code.
//
// Lower bound of a tree: one block of AES per leaf. Of the check: three carry-less products per
// leaf. Of the code: two blocks of AES per output; the ten lines of a row come from the last cache.
#include <benchmark/benchmark.h>

#include <vector>

#include "bench/clock.h"
#include "crypto/aes_vaes.h"
#include "crypto/gf128_vpclmul.h"
#include "crypto/rng.h"
#include "offline/silent/silent_bits.h"
#include "tests/support/layers.h"
#include "tests/support/two_parties.h"

namespace tinyot {
namespace {

constexpr SilentSet kSet = kSilentSets.back();
// As in the benches of AES and GF(2^128).
double cycles_per_block() { return vaes::is_usable() ? 2.5 : 5; }

SecretVector<Block> random_blocks(std::size_t count) {
  Rng rng(Seed{{1, count}});
  SecretVector<Block> blocks(count);
  rng.fill_blocks(std::span(blocks));
  return blocks;
}

void half_tree_of_key_holder(benchmark::State& state) {
  const HalfTreeKey key({1, 2});
  SecretVector<Block> leaves(kSet.leaves()), sums(kSet.depth);
  for (auto _ : state) {
    expand_half_tree(key, {3, 4}, Delta{{5, 6}}, leaves, sums);
    benchmark::DoNotOptimize(leaves.data());
  }
  bench::report_against_bound(state, static_cast<double>(leaves.size()), cycles_per_block());
}
BENCHMARK(half_tree_of_key_holder);

void half_tree_of_mac_holder(benchmark::State& state) {
  const HalfTreeKey key({1, 2});
  SecretVector<Block> leaves(kSet.leaves());
  const SecretVector<Block> sides = random_blocks(kSet.depth);
  for (auto _ : state) {
    expand_punctured(key, 1234, sides, leaves);
    benchmark::DoNotOptimize(leaves.data());
  }
  bench::report_against_bound(state, static_cast<double>(leaves.size()), cycles_per_block());
}
BENCHMARK(half_tree_of_mac_holder);

void check_of_leaves(benchmark::State& state) {
  test::run_sessions([&](Session& session) {
    if (session.me() != Party::A) return;
    SilentCheck check(session, {session, Party::A, {kSet, 1, {}}}, {});
    const SecretVector<Block> leaves = random_blocks(kSet.leaves());
    WideBlock sum{};
    std::uint64_t first = 0;
    for (auto _ : state) {
      check.add(first, leaves, sum);
      first += leaves.size();
      benchmark::DoNotOptimize(sum);
    }
  });
  bench::report_against_bound(state, static_cast<double>(kSet.leaves()),
                              vpclmul::is_usable() ? 3 : 6);
}
BENCHMARK(check_of_leaves);

void encode(benchmark::State& state, bool with_bits) {
  test::run_sessions([&](Session& session) {
    if (session.me() != Party::A) return;
    const SparseCode code(session, Party::A, 1, {}, kSet.secret_log);
    const SecretVector<Block> secret = random_blocks(kSet.secret()),
                              noise = random_blocks(kSet.leaves());
    const BitVector bits = session.rng().bits(kSet.secret());
    MacColumn out(kSet.leaves());
    std::uint64_t first = 0;
    for (auto _ : state) {
      if (with_bits)
        code.encode(first, secret, bits.words(), noise, out.view());
      else
        code.encode(first, secret, noise, as_blocks(std::span(out.macs)));
      first += kSet.leaves();
      benchmark::DoNotOptimize(out.macs.data());
    }
  });
  bench::report_against_bound(state, static_cast<double>(kSet.leaves()), 2 * cycles_per_block());
}
void code_of_keys(benchmark::State& state) { encode(state, false); }
void code_of_macs_and_bits(benchmark::State& state) { encode(state, true); }
BENCHMARK(code_of_keys);
BENCHMARK(code_of_macs_and_bits);

}  // namespace
}  // namespace tinyot
