// One global key for all aBit runs of a session: a key holder that uses another key in a later run
// must be detected.
//
// Otherwise it learns the MAC holder's bits: a revealed f = u ^ x, with u from one run and x from
// the other, has the MAC K ^ f.Delta' ^ x.(Delta ^ Delta'), and the digest of the MAC transcript
// reveals x to the key holder.
#include <algorithm>

#include "offline/nnob12/auth_bits.h"
#include "tests/offline/dealt.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr std::size_t kWanted = 64;
constexpr MessageTag kMatrix = net::message_tag("abit.r");

SecurityParameters key_parameters() {
  return SecurityParameters::make({.own = Nnob12Parameters{Columns::Experiment}, .unit = 1});
}

// One run as B, written step by step, with R.Gamma = `delta` for any delta.
AuthBits run_as_b(Session& session, const SecurityParameters& params, BaseOts seeds,
                  std::size_t length, Delta delta) {
  LeakyBitSender sender(session, params, std::move(seeds.sent), length);
  LeakyBitReceiver receiver(session, params, std::move(seeds.received));
  const AmplificationMatrix r = draw_amplification(session.rng(), flip_role(receiver), delta);
  AuthBits bits{MacColumn(length), KeyColumn(length)};
  const ColumnChunk chunk = chunks_of(length).at(0);
  LeakyMacRows mac_rows;
  sender.offer(chunk);
  receiver.receive(chunk, mac_rows);
  Amplifier(r).amplify(flip_role(mac_rows), bits.peers.view());
  receiver.send_pairing();
  sender.receive_pairing();
  const PhaseLog::Scope scope(session.log(), session.channel(), "test", length);
  EqualityCheck equality("LaBit");
  equality.add("LaBit of A", receiver.check_digest());
  equality.add("LaBit of B", sender.check_digest(scope));
  equality.run(session);
  send_words(session.channel(), kMatrix, r.matrix.words());
  AmplificationMatrix peers_r{BitMatrix(kKappa, columns_kept(params))};
  recv_words(session.channel(), kMatrix, peers_r.matrix.words());
  LeakyKeyRows key_rows;
  sender.kept_rows(chunk, key_rows);
  Amplifier(peers_r).amplify(flip_role(key_rows), bits.mine.macs);
  copy_bits(sender.gamma().words(), 0, bits.mine.bits.words(), 0, length);
  return bits;
}

// A makes an honest run after the run that makes its base OTs; B uses the first run's global key
// plus `change`.
Outcomes two_runs(Block change) {
  AuthBits of_a, of_b;
  const Delta first = global_key_of(Party::B, 1), second{first.value ^ change};
  const Outcomes outcomes = run_sessions(
      [&](Session& session) {
        const auto params = key_parameters();
        const std::size_t t = columns_made(params);
        if (session.me() == Party::A) {
          AuthBitSource maker(session, params);
          maker.prepare(2);
          Session part(session, "unit", 0, session.channel(), session.log());
          return maker.stream(part, 0, kWanted)->make(of_a);
        }
        const RunLayout before(params, 0, 2), layout(params, kWanted, 1);
        AuthBits bits =
            run_as_b(session, params, base_ots_by_public_key(session, t), before.length, first);
        BaseOts seeds = base_ots_from_auth_bits(session, bits.mine.view(before.seeds(0), t),
                                                bits.peers.view(before.seeds(0), t));
        Session part(session, "unit", 0, session.channel(), session.log());
        of_b = run_as_b(part, params, std::move(seeds), layout.length, second);
        AuthBits reference{MacColumn(kReferenceBits), KeyColumn(kReferenceBits)};
        copy_bits(bits.mine.view(before.check_delta, kReferenceBits).bits, 0,
                  reference.mine.bits.words(), 0, kReferenceBits);
        std::ranges::copy(bits.mine.view(before.check_delta, kReferenceBits).macs,
                          reference.mine.macs.begin());
        std::ranges::copy(bits.peers.view(before.check_delta, kReferenceBits),
                          reference.peers.keys.begin());
        DeltaConsistency delta_check;
        delta_check.set_reference_bits(std::move(reference));
        delta_check.check(part, of_b.mine.view(layout.check_delta, kReferenceBits),
                          of_b.peers.view(layout.check_delta, kReferenceBits));
      },
      {}, false);
  if (outcomes.a.kind == Outcome::Kind::Done) checked_bits(of_a.mine, of_b.peers, second);
  return outcomes;
}

TEST(GlobalKey, OneKeyInBothRunsPasses) {
  const Outcomes outcomes = two_runs({0, 0});
  EXPECT_EQ(outcomes.a.kind, Outcome::Kind::Done) << outcomes.a.message;
  EXPECT_EQ(outcomes.b.kind, Outcome::Kind::Done) << outcomes.b.message;
}

TEST(GlobalKey, DetectsAnotherKeyInTheSecondRun) {
  const Outcomes outcomes = two_runs({1, 0});
  EXPECT_EQ(outcomes.a.kind, Outcome::Kind::PeerCheated)
      << "A accepted a run under another global key";
  EXPECT_EQ(outcomes.a.check, "EQ of global key");
}

}  // namespace
}  // namespace tinyot
