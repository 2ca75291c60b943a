// LaOT on dealt bits: honest runs, and one wrong message at a time.
#include "offline/nnob12/leaky_ot.h"

#include <optional>

#include "base/bounds.h"
#include "tests/offline/dealt.h"
#include "tests/support/layers.h"
#include "tests/support/repetitions.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr std::size_t kLeakyOts = 65;

struct LeakyOts {
  MacColumn x0, x1, c, z;
  KeyColumn x0_keys, x1_keys, c_keys, z_keys;
  std::optional<Buckets> buckets;  // of the receiver, the victim of the leak
  Outcomes outcomes;
};

std::string ot_check_of(Party sender) { return std::string("EQ of LaOT from ") + letter(sender); }

LeakyOts make_ots(Party sender, Party cheater, std::uint64_t seed, const Deviation& deviation,
                  std::size_t count = kLeakyOts, std::size_t bucket = 0) {
  LeakyOts made;
  const Party receiver = peer_of(sender);
  const std::string name = ot_check_of(sender).substr(6);
  made.outcomes = run_sessions(
      [&](Session& session) {
        Dealt x0(session.me(), sender, count, seed, 0), x1(session.me(), sender, count, seed, 1);
        Dealt c(session.me(), receiver, count, seed, 2), r(session.me(), receiver, count, seed, 3);
        if (session.me() == sender) {
          LeakyOtSender role(session, x0.mine.view(), x1.mine.view(), c.peers.view(),
                             r.peers.view());
          for (const ObjectChunk& chunk : object_chunks(count))
            role.send_x(chunk), role.answer_d(chunk);
          compare_digests(session, name, role.check_digest(), cheater);
          if (bucket > 0)
            receive_buckets(session, {"bucket permutation LaOT", receiver}, count / bucket, bucket);
          made.x0 = std::move(x0.mine), made.x1 = std::move(x1.mine);
          made.c_keys = std::move(c.peers), made.z_keys = std::move(r.peers);
        } else {
          LeakyOtReceiver role(session, x0.peers.view(), x1.peers.view(), c.mine.view(),
                               r.mine.view());
          for (const ObjectChunk& chunk : object_chunks(count))
            role.open_x(chunk), role.receive_i(chunk);
          compare_digests(session, name, role.check_digest(), cheater);
          if (bucket > 0)
            made.buckets = draw_buckets(session, {"bucket permutation LaOT", receiver},
                                        count / bucket, bucket);
          made.x0_keys = std::move(x0.peers), made.x1_keys = std::move(x1.peers);
          made.c = std::move(c.mine), made.z = std::move(r.mine);
        }
      },
      options_with(cheater, seed, deviation), false);
  return made;
}

void expect_transfers(const LeakyOts& made, Party sender, std::uint64_t seed) {
  const Delta of_sender = global_key_of(sender, seed),
              of_receiver = global_key_of(peer_of(sender), seed);
  const auto x0 = checked_bits(made.x0, made.x0_keys, of_receiver),
             x1 = checked_bits(made.x1, made.x1_keys, of_receiver);
  const auto c = checked_bits(made.c, made.c_keys, of_sender),
             z = checked_bits(made.z, made.z_keys, of_sender);
  for (std::size_t i = 0; i < c.size(); ++i) ASSERT_EQ(z[i], c[i] ? x1[i] : x0[i]) << i;
}

TEST(LeakyOt, HonestRunsTransferTheChosenBit) {
  for (const Party sender : {Party::A, Party::B}) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{63}, std::size_t{64},
                                    std::size_t{65}, kChunkObjects, kChunkObjects + 1}) {
      const LeakyOts made = make_ots(sender, sender, count, no_deviation, count);
      EXPECT_EQ(made.outcomes.a.kind, Outcome::Kind::Done) << made.outcomes.a.message;
      EXPECT_EQ(made.outcomes.b.kind, Outcome::Kind::Done) << made.outcomes.b.message;
      expect_transfers(made, sender, count);
    }
  }
}

// A wrong message by the sender that amounts to a guess of one of the receiver's bits.
struct Guess {
  const char* name;
  const char* tag;
  std::size_t occurrence;  // 0: X_0 or I_0, 1: X_1 or I_1
  std::size_t object_bits;
  bool by_eq;  // the check that detects it: EQ, or the MAC of step 5
  bool at_z;   // the guess is of z = x_c, not of c
};

class SenderGuess : public testing::TestWithParam<Guess> {};

// The receiver opens only one of X_0, X_1 and of I_0, I_1: a wrong one is detected by the first
// check if it is opened, and has no effect otherwise.
TEST_P(SenderGuess, IsDetectedWithProbabilityOneHalf) {
  constexpr std::size_t kRuns = repetitions(200);
  const Guess& guess = GetParam();
  for (const Party sender : {Party::A, Party::B}) {
    const Party receiver = peer_of(sender);
    std::size_t caught = 0;
    for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
      const std::size_t object = seed % kLeakyOts,
                        bit = guess.object_bits * object + seed % guess.object_bits;
      const LeakyOts made =
          make_ots(sender, sender, seed, flip_bit(guess.tag, guess.occurrence, bit));
      const bool c = Dealt(receiver, receiver, kLeakyOts, seed, 2).truth[object];
      const bool z = Dealt(sender, sender, kLeakyOts, seed, c ? 1 : 0).truth[object];
      const bool was_caught =
          caught_by(of(made.outcomes, receiver), guess.by_eq ? ot_check_of(sender) : "LaOT MAC");
      EXPECT_EQ(was_caught, (guess.at_z ? z : c) == (guess.occurrence == 1)) << seed;
      caught += was_caught;
      if (!was_caught) expect_transfers(made, sender, seed);
    }
    expect_half(caught, kRuns);
  }
}

INSTANTIATE_TEST_SUITE_P(OneBit, SenderGuess,
                         testing::Values(Guess{"BitInX0", "laot.x.bits", 0, 1, false, false},
                                         Guess{"BitInX1", "laot.x.bits", 1, 1, false, false},
                                         Guess{"MacInX0", "laot.x.macs", 0, 128, false, false},
                                         Guess{"MacInX1", "laot.x.macs", 1, 128, false, false},
                                         Guess{"TInX0", "laot.x.t", 0, 128, true, false},
                                         Guess{"TInX1", "laot.x.t", 1, 128, true, false},
                                         Guess{"I0", "laot.i", 0, 128, true, true},
                                         Guess{"I1", "laot.i", 1, 128, true, true}),
                         [](const auto& guess) { return guess.param.name; });

// Wrong MACs in X_0 of the best number of LaOTs: guesses of c. The LaOTs are put into buckets after
// the check.
TEST(LeakyOt, WholeBucketLeaksWithTheProbabilityOfTheBound) {
  constexpr std::size_t l = 4, kBucket = 2, kAttacked = best_attack(kBucket),
                        kRuns = repetitions(3000);
  const Deviation wrong_macs = [](std::string_view tag, std::size_t occurrence,
                                  std::vector<std::byte>& payload) {
    for (std::size_t object = 0; tag == "laot.x.macs" && occurrence == 0 && object < kAttacked;
         ++object)
      payload.at(16 * object) ^= std::byte{1};
  };
  std::size_t owned = 0;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const LeakyOts made = make_ots(Party::A, Party::A, seed, wrong_macs, l * kBucket, kBucket);
    owned += made.outcomes.b.kind == Outcome::Kind::Done &&
             owns_a_bucket(made.buckets.value(), kAttacked);
  }
  expect_as_likely(owned, kRuns, std::exp2(-exact_bound_bits(l, kBucket)));
}

TEST(LeakyOt, AlwaysDetectsWrongDOfTheReceiver) {
  for (const Party sender : {Party::A, Party::B})
    for (std::uint64_t seed = 0; seed < 20; ++seed)
      EXPECT_TRUE(caught_by(
          of(make_ots(sender, peer_of(sender), seed, flip_bit("laot.d", 0, seed * 3 % kLeakyOts))
                 .outcomes,
             sender),
          ot_check_of(sender)));
}

// Both X are wrong: no guess succeeds.
TEST(LeakyOt, DetectsWrongMacsInBothBeforeAnswering) {
  std::size_t answers = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const LeakyOts made =
        make_ots(Party::A, Party::A, seed,
                 [](std::string_view tag, std::size_t, std::vector<std::byte>& payload) {
                   if (tag == "laot.x.macs") payload[0] ^= std::byte{1};
                 });
    EXPECT_TRUE(caught_by(made.outcomes.b, "LaOT MAC"));
    EXPECT_EQ(made.outcomes.a.kind, Outcome::Kind::PeerAborted);
    answers += made.z.size();
  }
  EXPECT_EQ(answers, 0u);
}

TEST(LeakyOt, MatchesTheDocumentedCost) {
  run_sessions([](Session& session) {
    Dealt x0(session.me(), Party::A, kLeakyOts, 1, 0), x1(session.me(), Party::A, kLeakyOts, 1, 1);
    Dealt c(session.me(), Party::B, kLeakyOts, 1, 2), r(session.me(), Party::B, kLeakyOts, 1, 3);
    const ChannelCounters before = session.channel().counters();
    const auto bytes = [&] { return session.channel().counters().bytes_sent - before.bytes_sent; };
    const ObjectChunk chunk{0, kLeakyOts};
    if (session.me() == Party::A) {
      LeakyOtSender role(session, x0.mine.view(), x1.mine.view(), c.peers.view(), r.peers.view());
      role.send_x(chunk);
      EXPECT_EQ(bytes(), 6 * 16 + 2 * ((kLeakyOts + 7) / 8 + 32 * kLeakyOts));
      role.answer_d(chunk);
      EXPECT_EQ(bytes(), 8 * 16 + 2 * ((kLeakyOts + 7) / 8 + 32 * kLeakyOts) + 32 * kLeakyOts);
    } else {
      LeakyOtReceiver role(session, x0.peers.view(), x1.peers.view(), c.mine.view(), r.mine.view());
      role.open_x(chunk), role.receive_i(chunk);
      EXPECT_EQ(bytes(), 16 + (kLeakyOts + 7) / 8);
    }
  });
}

}  // namespace
}  // namespace tinyot
