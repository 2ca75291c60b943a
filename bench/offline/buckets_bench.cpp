// Buckets of B = 3: aANDs and aOTs in both directions. The combiner bits are revealed and settled,
// then the buckets are folded into batches as in a unit. An item is one aAND (or aOT) of each
// direction. The permutations are drawn beforehand: kernel_bench measures them.
//
// Lower bound per party and item, computed by hand: each of the B - 1 combiner bits of either
// direction has a MAC or a key that is hashed by H and absorbed by the transcript: 2 (B - 1) calls
// of H, 8 AES blocks, and 64 bytes of SHA-256.
//
// Kernels, likewise: also the blocks at random positions among the B l of a column, each counted
// once: x, y, z of the B objects of an aAND, 3 B per direction, 18 in total; x0, x1, c, z of those
// of an aOT, 24 in total. The bits are packed more than a hundred times as densely and are not
// counted.
//
// Wire: (B - 1) / 8 bytes per item and party.
#include <algorithm>

#include "bench/offline/kernel_seconds.h"
#include "bench/offline/stage.h"
#include "material/material.h"
#include "offline/nnob12/auth_and.h"
#include "offline/nnob12/auth_ot.h"

namespace tinyot::bench {
namespace {

constexpr std::size_t kBucket = 3;
constexpr std::size_t kPourCount = std::size_t{1} << 14;

// Folds all buckets into batches, which are discarded.
template <class Fold>
void fold_all(MaterialKind kind, Party me, std::size_t count, Fold fold) {
  for (std::size_t first = 0; first < count; first += kPourCount) {
    const BucketRange range{first, std::min(kPourCount, count - first)};
    material::Batch batch(kind, me, range.count);
    fold(range, batch);
    benchmark::DoNotOptimize(&batch);
  }
}

class AuthAndParty final : public StageParty {
 public:
  AuthAndParty(Session& whole, std::size_t count)
      : mine_(columns(whole, whole.me(), kBucket * count)),
        peers_(columns(whole, whole.peer(), kBucket * count)),
        my_buckets_(draw_buckets(whole, {"bucket permutation LaAND", whole.me()}, count, kBucket)),
        peers_buckets_(
            receive_buckets(whole, {"bucket permutation LaAND", whole.peer()}, count, kBucket)) {}

  void repeat(Session& part) override {
    AuthAndMacHolder holder(my_buckets_, mine_.x.mine.view(), mine_.y.mine.view(),
                            mine_.z.mine.view());
    AuthAndKeyHolder checker(peers_buckets_, peers_.x.peers.view(), peers_.y.peers.view(),
                             peers_.z.peers.view());
    {
      const PhaseLog::Scope phase(part.log(), part.channel(), "reveal", my_buckets_.count());
      holder.reveal(part);
      checker.receive(part);
      settle_transcripts(part);
    }
    const PhaseLog::Scope phase(part.log(), part.channel(), "fold", my_buckets_.count());
    fold_all(material::auth_ands_of(part.me()), part.me(), my_buckets_.count(),
             [&](const BucketRange& range, material::Batch& out) {
               holder.fold_into(range, out.mine[0], out.mine[1], out.mine[2]);
             });
    fold_all(material::auth_ands_of(part.peer()), part.me(), peers_buckets_.count(),
             [&](const BucketRange& range, material::Batch& out) {
               checker.fold_into(range, out.peers[0], out.peers[1], out.peers[2]);
             });
  }

 private:
  struct Columns {
    test::Dealt x, y, z;
  };
  static Columns columns(const Session& whole, Party owner, std::size_t leaky) {
    return {dealt(whole, owner, 0, leaky), dealt(whole, owner, 1, leaky),
            dealt(whole, owner, 2, leaky)};
  }

  Columns mine_, peers_;
  Buckets my_buckets_, peers_buckets_;
};

class AuthOtParty final : public StageParty {
 public:
  AuthOtParty(Session& whole, std::size_t count)
      : sent_(columns(whole, whole.me(), kBucket * count)),
        chosen_(columns(whole, whole.peer(), kBucket * count)),
        chosen_buckets_(
            draw_buckets(whole, {"bucket permutation LaOT", whole.me()}, count, kBucket)),
        sent_buckets_(
            receive_buckets(whole, {"bucket permutation LaOT", whole.peer()}, count, kBucket)) {}

  void repeat(Session& part) override {
    AuthOtSender sender(sent_buckets_, sent_.x0.mine.view(), sent_.x1.mine.view(),
                        sent_.c.peers.view(), sent_.z.peers.view());
    AuthOtReceiver receiver(chosen_buckets_, chosen_.x0.peers.view(), chosen_.x1.peers.view(),
                            chosen_.c.mine.view(), chosen_.z.mine.view());
    {
      const PhaseLog::Scope phase(part.log(), part.channel(), "reveal", sent_buckets_.count());
      sender.reveal(part);
      receiver.receive(part);
      settle_transcripts(part);
    }
    const PhaseLog::Scope phase(part.log(), part.channel(), "fold", sent_buckets_.count());
    fold_all(material::auth_ots_from(part.me()), part.me(), sent_buckets_.count(),
             [&](const BucketRange& range, material::Batch& out) {
               sender.fold_into(range, out.mine[0], out.mine[1], out.peers[0], out.peers[1]);
             });
    fold_all(material::auth_ots_from(part.peer()), part.me(), chosen_buckets_.count(),
             [&](const BucketRange& range, material::Batch& out) {
               receiver.fold_into(range, out.peers[0], out.peers[1], out.mine[0], out.mine[1]);
             });
  }

 private:
  struct Columns {
    test::Dealt x0, x1, c, z;
  };
  static Columns columns(const Session& whole, Party sender, std::size_t leaky) {
    const Party receiver = peer_of(sender);
    return {dealt(whole, sender, 0, leaky), dealt(whole, sender, 1, leaky),
            dealt(whole, receiver, 2, leaky), dealt(whole, receiver, 3, leaky)};
  }

  Columns sent_, chosen_;
  Buckets chosen_buckets_, sent_buckets_;
};

template <class BucketParty>
void buckets(benchmark::State& state, std::size_t columns) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const MeasuredCost cost = measure_stage(
      state, [&](Session& whole) { return std::make_unique<BucketParty>(whole, count); });
  const double revealed = 2 * (kBucket - 1),
               bound = revealed * (hash_seconds() + 16 * digest_seconds());
  const double gathered = static_cast<double>(2 * columns * kBucket);
  report(state, cost, count,
         {.bound = bound, .kernels = bound + gathered * gather_seconds(kBucket * count)});
}

void auth_ands(benchmark::State& state) { buckets<AuthAndParty>(state, 3); }
void auth_ots(benchmark::State& state) { buckets<AuthOtParty>(state, 4); }
BENCHMARK(auth_ands)->Arg(1 << 16)->Iterations(20)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(auth_ands)->Arg(1 << 20)->Iterations(5)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(auth_ots)->Arg(1 << 16)->Iterations(20)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(auth_ots)->Arg(1 << 20)->Iterations(5)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tinyot::bench
