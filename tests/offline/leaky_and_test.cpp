// LaAND on dealt bits: honest runs, and one wrong message at a time.
#include "offline/nnob12/leaky_and.h"

#include <optional>

#include "base/bounds.h"
#include "crypto/tweak_hash.h"
#include "tests/offline/dealt.h"
#include "tests/support/layers.h"
#include "tests/support/repetitions.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr std::size_t kLeakyAnds = 65;

struct LeakyAnds {
  BitVector x, y;  // the dealt ones
  MacColumn mine[3];
  KeyColumn peers[3];
  std::optional<Buckets> buckets;  // of the MAC holder, the victim of the leak
  Outcomes outcomes;
};

std::string and_check_of(Party holder) { return std::string("EQ of LaAND of ") + letter(holder); }

// The key holder's digest; a cheater may replace it.
using DigestOf =
    std::function<Digest(Session&, const Digest& honest, KeyColumnView x, KeyColumnView z)>;

LeakyAnds make_ands(Party holder, Party cheater, std::uint64_t seed, const Deviation& deviation,
                    std::size_t count = kLeakyAnds, const DigestOf& digest_of = {},
                    std::size_t bucket = 0) {
  LeakyAnds made;
  const std::string name = and_check_of(holder).substr(6);
  made.outcomes = run_sessions(
      [&](Session& session) {
        Dealt x(session.me(), holder, count, seed, 0), y(session.me(), holder, count, seed, 1),
            r(session.me(), holder, count, seed, 2);
        if (session.me() == holder) {
          LeakyAndMacHolder role(session, x.mine.view(), y.mine.view(), r.mine.view());
          for (const ObjectChunk& chunk : object_chunks(count))
            role.announce(chunk), role.receive_u(chunk);
          compare_digests(session, name, role.check_digest(), cheater);
          if (bucket > 0)
            made.buckets =
                draw_buckets(session, {"bucket permutation LaAND", holder}, count / bucket, bucket);
          made.x = x.truth, made.y = y.truth;
          made.mine[0] = std::move(x.mine), made.mine[1] = std::move(y.mine),
          made.mine[2] = std::move(r.mine);
        } else {
          LeakyAndKeyHolder role(session, x.peers.view(), y.peers.view(), r.peers.view());
          for (const ObjectChunk& chunk : object_chunks(count)) role.answer(chunk);
          Digest digest = role.check_digest();
          if (digest_of) digest = digest_of(session, digest, x.peers.view(), r.peers.view());
          compare_digests(session, name, digest, cheater);
          if (bucket > 0)
            receive_buckets(session, {"bucket permutation LaAND", holder}, count / bucket, bucket);
          made.peers[0] = std::move(x.peers), made.peers[1] = std::move(y.peers),
          made.peers[2] = std::move(r.peers);
        }
      },
      options_with(cheater, seed, deviation), false);
  return made;
}

void expect_leaky_ands(const LeakyAnds& made, Party holder, std::uint64_t seed) {
  std::vector<bool> bits[3];
  for (std::size_t i = 0; i < 3; ++i)
    bits[i] = checked_bits(made.mine[i], made.peers[i], global_key_of(peer_of(holder), seed));
  for (std::size_t i = 0; i < bits[0].size(); ++i) {
    ASSERT_EQ(bits[0][i], made.x[i]);
    ASSERT_EQ(bits[1][i], made.y[i]);
    ASSERT_EQ(bits[2][i], bits[0][i] && bits[1][i]) << i;
  }
}

TEST(LeakyAnd, HonestRunsGiveProducts) {
  for (const Party holder : {Party::A, Party::B}) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{63}, std::size_t{64},
                                    std::size_t{65}, kChunkObjects, kChunkObjects + 1}) {
      const LeakyAnds made = make_ands(holder, peer_of(holder), count, no_deviation, count);
      EXPECT_EQ(made.outcomes.a.kind, Outcome::Kind::Done) << made.outcomes.a.message;
      EXPECT_EQ(made.outcomes.b.kind, Outcome::Kind::Done) << made.outcomes.b.message;
      expect_leaky_ands(made, holder, count);
    }
  }
}

// The MAC holder uses U only if x = 1: a wrong U is a guess that x = 0, and has no effect if the
// guess is right.
TEST(LeakyAnd, WrongUIsAGuessOfX) {
  constexpr std::size_t kRuns = repetitions(200);
  for (const Party holder : {Party::A, Party::B}) {
    std::size_t caught = 0;
    for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
      const std::size_t object = seed % kLeakyAnds;
      const LeakyAnds made = make_ands(holder, peer_of(holder), seed,
                                       flip_bit("laand.u", 0, 128 * object + seed % 128));
      const bool was_caught = caught_by(of(made.outcomes, holder), and_check_of(holder));
      EXPECT_EQ(was_caught, Dealt(holder, holder, kLeakyAnds, seed, 0).truth[object]) << seed;
      caught += was_caught;
      if (!was_caught) expect_leaky_ands(made, holder, seed);
    }
    expect_half(caught, kRuns);
  }
}

// The opposite guess: the key holder assumes x = 1, where V has the error of U, and uses the
// matching digest.
TEST(LeakyAnd, WrongUWithMatchingDigestIsTheOppositeGuess) {
  constexpr std::size_t kRuns = 100, kObject = 7;
  std::size_t caught = 0;
  const DigestOf fitting = [](Session& session, const Digest&, KeyColumnView x, KeyColumnView z) {
    std::vector<Block> v(kLeakyAnds);
    for (std::size_t i = 0; i < kLeakyAnds; ++i) v[i] = collapsed(x[i].value, z[i].value);
    TweakHash(session.id(), {"LaAND", letter(session.peer()), 0})(HashUse::LeakyAnd, 0, v, v);
    v[kObject].lo ^= 1;
    return RandomOracle(session.id(), {"LaAND EQ", letter(session.peer()), 0})
        .absorb(std::as_bytes(std::span(v)))
        .digest();
  };
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const LeakyAnds made = make_ands(Party::A, Party::B, seed,
                                     flip_bit("laand.u", 0, 128 * kObject), kLeakyAnds, fitting);
    const bool was_caught = caught_by(made.outcomes.a, and_check_of(Party::A));
    EXPECT_EQ(was_caught, !Dealt(Party::A, Party::A, kLeakyAnds, seed, 0).truth[kObject]) << seed;
    caught += was_caught;
    if (!was_caught) expect_leaky_ands(made, Party::A, seed);
  }
  expect_half(caught, kRuns);
}

// Wrong U for the best number of LaANDs, which are put into buckets after the check.
TEST(LeakyAnd, WholeBucketLeaksWithTheProbabilityOfTheBound) {
  struct Small {
    std::size_t l, bucket, runs;
  };
  for (const auto& [l, bucket, runs] : {Small{4, 2, 3000}, Small{3, 3, 6000}}) {
    const std::size_t attacked = best_attack(bucket), sessions = repetitions(runs);
    const Deviation wrong_u = [&](std::string_view tag, std::size_t,
                                  std::vector<std::byte>& payload) {
      for (std::size_t object = 0; tag == "laand.u" && object < attacked; ++object)
        payload.at(16 * object) ^= std::byte{1};
    };
    std::size_t owned = 0;
    for (std::uint64_t seed = 0; seed < sessions; ++seed) {
      const LeakyAnds made = make_ands(Party::A, Party::B, seed, wrong_u, l * bucket, {}, bucket);
      owned += made.outcomes.a.kind == Outcome::Kind::Done &&
               owns_a_bucket(made.buckets.value(), attacked);
    }
    expect_as_likely(owned, sessions,
                     std::exp2(-exact_bound_bits(l, static_cast<std::uint32_t>(bucket))));
  }
}

TEST(LeakyAnd, AlwaysDetectsWrongD) {
  for (const Party holder : {Party::A, Party::B})
    for (std::uint64_t seed = 0; seed < 20; ++seed)
      EXPECT_TRUE(caught_by(
          of(make_ands(holder, holder, seed, flip_bit("laand.d", 0, seed * 3 % kLeakyAnds))
                 .outcomes,
             peer_of(holder)),
          and_check_of(holder)));
}

TEST(LeakyAnd, MatchesTheDocumentedCost) {
  run_sessions([](Session& session) {
    Dealt x(session.me(), Party::A, kLeakyAnds, 1, 0), y(session.me(), Party::A, kLeakyAnds, 1, 1),
        r(session.me(), Party::A, kLeakyAnds, 1, 2);
    const std::uint64_t before = session.channel().counters().bytes_sent;
    const ObjectChunk chunk{0, kLeakyAnds};
    if (session.me() == Party::A) {
      LeakyAndMacHolder role(session, x.mine.view(), y.mine.view(), r.mine.view());
      role.announce(chunk), role.receive_u(chunk);
      EXPECT_EQ(session.channel().counters().bytes_sent - before, 16 + (kLeakyAnds + 7) / 8);
    } else {
      LeakyAndKeyHolder(session, x.peers.view(), y.peers.view(), r.peers.view()).answer(chunk);
      EXPECT_EQ(session.channel().counters().bytes_sent - before, 16 + 16 * kLeakyAnds);
    }
  });
}

}  // namespace
}  // namespace tinyot
