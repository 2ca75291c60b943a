// Authenticated bits of the fast profile: batches of SoftSpokenOT in both directions, including the
// check. An item is one bit of each direction: a party is MAC holder for one and key holder for the
// other.
//
// Lower bound per party and item, computed by hand: AES blocks. The MAC holder expands all 2^k
// leaves of N = 128 / k trees, one bit per leaf and item, the key holder all but one: N (2^(k+1) -
// 1) bits, 3.5 blocks for k = 2, 3 for k = 1, 7.75 for k = 4.
//
// Kernels, likewise: that, two transpositions, and 128 bits of each direction hashed in GF(2^128)
// for the check.
//
// Wire: (N - 1) / 8 bytes per item and party, and 2 KB per batch for the check.
#include "bench/offline/kernel_seconds.h"
#include "bench/offline/stage.h"
#include "offline/softspoken/softspoken.h"
#include "offline/unit/steps.h"

namespace tinyot::bench {
namespace {

constexpr std::size_t kBatches = 32;
constexpr std::size_t kSlots = 3;  // for batches that are not yet answered

class SoftSpokenParty final : public StageParty {
 public:
  SoftSpokenParty(Session& whole, std::uint32_t k)
      : trees_(make_trees(whole, k)), mine_(kSlots * kBatchBits), peers_(kBatchBits) {}

  void repeat(Session& part) override {
    SoftSpokenMacHolder holder(part, trees_.mine, run_);
    SoftSpokenKeyHolder checker(part, trees_.peers, run_++);
    std::vector<BitBatch> batches;
    for (std::size_t number = 0; number < kBatches; ++number)
      batches.push_back({number, kBatchBits});
    const auto mine = [&](const BitBatch& batch) {
      return mine_.view(batch.number % kSlots * kBatchBits, kBatchBits);
    };
    run_pipeline(
        batches, 1, [&](const BitBatch& batch) { holder.send_corrections(batch, {{mine(batch)}}); },
        [&](const BitBatch& batch) { checker.receive_corrections(batch, {{peers_.view()}}); },
        [&](const BitBatch& batch) { holder.answer(batch, {{mine(batch)}}); },
        [&](const BitBatch& batch) { checker.verify(batch); });
  }

 private:
  Trees trees_;
  MacColumn mine_;
  KeyColumn peers_;
  std::uint64_t run_ = 0;
};

void softspoken(benchmark::State& state) {
  const auto k = static_cast<std::uint32_t>(state.range(0));
  const MeasuredCost cost = measure_stage(
      state, [&](Session& whole) { return std::make_unique<SoftSpokenParty>(whole, k); });
  const double prg_bytes = 128.0 / k * ((2 << k) - 1) / 8, bound = prg_bytes * prg_seconds();
  report(state, cost, kBatches * kBatchBits,
         {.bound = bound,
          .kernels = bound + 2 * transposition_seconds() + 2 * 16 * row_hash_seconds()});
}
BENCHMARK(softspoken)
    ->Arg(1)
    ->Arg(2)
    ->Arg(4)
    ->Iterations(10)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tinyot::bench
