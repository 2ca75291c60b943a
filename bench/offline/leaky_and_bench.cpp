// Leaky ANDs in both directions, chunk by chunk, with EQ. An item is one LaAND of each direction: a
// party is MAC holder of one and key holder of the other.
//
// Lower bound per party and item, computed by hand: 3 calls of H, 6 AES blocks: V of the MAC holder
// (1), H(K_x, K_z) and U of the key holder (2).
//
// Kernels, likewise: also the digests for EQ, 16 bytes of SHA-256 in each role.
//
// Wire: 16 + 1/8 bytes per item and party.
#include "bench/offline/kernel_seconds.h"
#include "bench/offline/stage.h"
#include "checks/equality.h"
#include "offline/nnob12/leaky_and.h"

namespace tinyot::bench {
namespace {

constexpr std::size_t kAnds = std::size_t{1} << 18;

class LeakyAndParty final : public StageParty {
 public:
  explicit LeakyAndParty(Session& whole)
      : mine_{columns(whole, whole.me())}, peers_{columns(whole, whole.peer())} {}

  void repeat(Session& part) override {
    LeakyAndMacHolder holder(part, mine_.x.mine.view(), mine_.y.mine.view(), mine_.r.mine.view());
    LeakyAndKeyHolder checker(part, peers_.x.peers.view(), peers_.y.peers.view(),
                              peers_.r.peers.view());
    for (const ObjectChunk& chunk : object_chunks(kAnds)) {
      holder.announce(chunk);
      checker.answer(chunk);
      holder.receive_u(chunk);
    }
    EqualityCheck equality("LaAND");
    equality.add_both(part.me(), "LaAND of A", "LaAND of B", holder.check_digest(),
                      checker.check_digest());
    equality.run(part);
  }

 private:
  struct Columns {
    test::Dealt x, y, r;
  };
  static Columns columns(const Session& whole, Party owner) {
    return {dealt(whole, owner, 0, kAnds), dealt(whole, owner, 1, kAnds),
            dealt(whole, owner, 2, kAnds)};
  }

  // After the first repetition the r are the z, which are authenticated bits as well.
  Columns mine_, peers_;
};

void leaky_ands(benchmark::State& state) {
  const MeasuredCost cost =
      measure_stage(state, [](Session& whole) { return std::make_unique<LeakyAndParty>(whole); });
  const double hashes = 3 * hash_seconds();
  report(state, cost, kAnds, {.bound = hashes, .kernels = hashes + 2 * 16 * digest_seconds()});
}
BENCHMARK(leaky_ands)->Iterations(20)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tinyot::bench
