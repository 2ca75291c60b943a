// Leaky OTs in both directions, chunk by chunk, with EQ. An item is one LaOT of each direction: a
// party is sender of one and receiver of the other.
//
// Lower bound per party and item, computed by hand: 12 calls of H, 24 AES blocks. The sender pads
// X_0 and X_1 with three each (6) and I_0, I_1 (2); the receiver unpads X_c (3) and I_z (1).
//
// Kernels, likewise: also T_0 and T_1, 32 bytes of PRG by the sender, and their digest for EQ, 32
// bytes of SHA-256 in each role.
//
// Wire: 96 + 3/8 bytes per item and party.
#include "bench/offline/kernel_seconds.h"
#include "bench/offline/stage.h"
#include "checks/equality.h"
#include "offline/nnob12/leaky_ot.h"

namespace tinyot::bench {
namespace {

constexpr std::size_t kLeakyOts = std::size_t{1} << 18;

class LeakyOtParty final : public StageParty {
 public:
  explicit LeakyOtParty(Session& whole)
      : sent_(columns(whole, whole.me())), chosen_(columns(whole, whole.peer())) {}

  void repeat(Session& part) override {
    LeakyOtSender sender(part, sent_.x0.mine.view(), sent_.x1.mine.view(), sent_.c.peers.view(),
                         sent_.r.peers.view());
    LeakyOtReceiver receiver(part, chosen_.x0.peers.view(), chosen_.x1.peers.view(),
                             chosen_.c.mine.view(), chosen_.r.mine.view());
    for (const ObjectChunk& chunk : object_chunks(kLeakyOts)) {
      sender.send_x(chunk);
      receiver.open_x(chunk);
      sender.answer_d(chunk);
      receiver.receive_i(chunk);
    }
    EqualityCheck equality("LaOT");
    equality.add_both(part.me(), "LaOT from A", "LaOT from B", sender.check_digest(),
                      receiver.check_digest());
    equality.run(part);
  }

 private:
  struct Columns {
    test::Dealt x0, x1, c, r;
  };
  static Columns columns(const Session& whole, Party sender) {
    const Party receiver = peer_of(sender);
    return {dealt(whole, sender, 0, kLeakyOts), dealt(whole, sender, 1, kLeakyOts),
            dealt(whole, receiver, 2, kLeakyOts), dealt(whole, receiver, 3, kLeakyOts)};
  }

  // After the first repetition the r are the z, which are authenticated bits as well.
  Columns sent_, chosen_;
};

void leaky_ots(benchmark::State& state) {
  const MeasuredCost cost =
      measure_stage(state, [](Session& whole) { return std::make_unique<LeakyOtParty>(whole); });
  const double hashes = 12 * hash_seconds();
  report(state, cost, kLeakyOts,
         {.bound = hashes, .kernels = hashes + 32 * prg_seconds() + 2 * 32 * digest_seconds()});
}
BENCHMARK(leaky_ots)->Iterations(10)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tinyot::bench
