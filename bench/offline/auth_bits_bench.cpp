// Authenticated bits: a run of LaBit, WaBit and aBit in both directions (AuthBitSource::make),
// including the Delta-consistency check. An item is one authenticated bit of each direction: a
// party is LaBit's sender for one and its receiver for the other.
//
// Lower bound per party and item, computed by hand, T = 2 tau: the PRG's bits. The sender expands
// both seeds of each of the T columns, the receiver one: 3 T / 8 bytes. That is 704 bytes or 44 AES
// blocks for tau = 939, 257 bytes or 16 blocks for tau = 342.
//
// Kernels, likewise: 4.5 T / 8 bytes of PRG, since the sender expands the zero seeds a second time
// for the check and those of the kept columns a third time for the amplification, to avoid holding
// T bits per item in memory; two amplifications of tau rows; two transpositions; 2 tau / 8 bytes
// hashed in GF(2^128).
//
// Wire: T / 8 bytes per item and party.
#include "bench/offline/kernel_seconds.h"
#include "bench/offline/stage.h"
#include "offline/nnob12/auth_bits.h"

namespace tinyot::bench {
namespace {

constexpr std::size_t kBits = std::size_t{1} << 18;

class AuthBitParty final : public StageParty {
 public:
  // Makes the base OTs of all runs.
  AuthBitParty(Session& whole, const offline::SecurityParameters& params, std::size_t runs)
      : maker_(whole, params) {
    maker_.prepare(runs);
  }

  void repeat(Session& part) override { maker_.stream(part, run_++, kBits)->make(bits_); }

 private:
  AuthBitSource maker_;
  std::size_t run_ = 0;
  AuthBits bits_;
};

StageBounds bounds_of(const offline::SecurityParameters& params) {
  const double made = columns_made(params), kept = columns_kept(params);
  return {.bound = 3 * made / 8 * prg_seconds(),
          .kernels = 4.5 * made / 8 * prg_seconds() +
                     2 * amplification_seconds(columns_kept(params)) + 2 * transposition_seconds() +
                     2 * kept / 8 * row_hash_seconds()};
}

void auth_bits(benchmark::State& state, Columns columns) {
  const auto params = offline::SecurityParameters::make({.own = Nnob12Parameters{columns}});
  const auto runs = static_cast<std::size_t>(state.max_iterations) + 1;
  const MeasuredCost cost = measure_stage(
      state, [&](Session& whole) { return std::make_unique<AuthBitParty>(whole, params, runs); });
  report(state, cost, RunLayout(params, kBits, 1).length, bounds_of(params));
}
BENCHMARK_CAPTURE(auth_bits, theorem, Columns::Theorem)
    ->Iterations(8)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(auth_bits, experiment, Columns::Experiment)
    ->Iterations(20)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tinyot::bench
