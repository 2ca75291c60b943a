// Base OTs by public-key cryptography, in both directions. An item is one OT of each direction: a
// party is sender of one and receiver of the other.
//
// Lower bound per party and item, computed by hand: the scalar multiplications in the group. r.G
// and r.S by the receiver, s.G and two others by s by the sender: 2 of the base point and 3 of
// other points. AES is negligible.
//
// Kernels, likewise: also 4 hashes to the group: R_{1-c} and its Hash2Group at the receiver, two at
// the sender.
//
// Wire: 96 bytes per item and party.
#include "bench/offline/kernel_seconds.h"
#include "bench/offline/stage.h"
#include "offline/base_ot/base_ot.h"

namespace tinyot::bench {
namespace {

constexpr std::size_t kOts = 256;

class BaseOtParty final : public StageParty {
 public:
  void repeat(Session& part) override { base_ots_by_public_key(part, kOts); }
};

void base_ots(benchmark::State& state) {
  const MeasuredCost cost =
      measure_stage(state, [](Session&) { return std::make_unique<BaseOtParty>(); });
  const double multiples = 2 * times_base_seconds() + 3 * times_seconds();
  report(state, cost, kOts,
         {.bound = multiples, .kernels = multiples + 4 * hash_to_group_seconds()});
}
BENCHMARK(base_ots)->Iterations(10)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tinyot::bench
