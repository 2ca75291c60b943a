// Leaky triples driven directly on dealt bits: honest runs, and one wrong message at a time.
#include "offline/leaky_triple.h"

#include "offline/steps.h"
#include "tests/offline/dealt.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr std::size_t kCount = 65;

// Bits of `owner` under such a key.
struct DealtBits {
  DealtBits(Party me, Party owner, std::size_t count, std::uint64_t seed, std::uint64_t number) : dealt(me, owner, count, seed, number) {
    if (me != owner) return;
    // The MACs of dealt bits are under the key that has not been adjusted yet.
    const Block change = key_for_triples(peer_of(owner), seed).value ^ global_key_of(peer_of(owner), seed).value;
    for (std::size_t i = 0; i < count; ++i) dealt.mine.macs[i].value ^= times(change, dealt.truth[i]);
  }
  Dealt dealt;
};

struct Triples {
  BitVector truth[2][2];  // of x and y, by party
  AuthBitsMine mine[2][3];
  AuthBitsPeers peers[2][3];
  Outcomes outcomes;
};

void nothing(std::string_view, std::size_t, std::vector<std::byte>&) {}

Triples make(Party cheater, std::uint64_t seed, const Deviation& deviation, std::size_t count = kCount, std::size_t ahead = 1) {
  Triples made;
  made.outcomes = run_sessions(
      [&](Session& outer) {
        const Party me = outer.me();
        const SessionIds ids{outer.id(), outer.id()};
        PhaseLog log;
        Session session(me, ids, key_for_triples(me, seed), outer.channel(), outer.rng().fork(), log);
        const auto index = static_cast<int>(me);
        for (std::size_t i = 0; i < 3; ++i) {
          DealtBits own(me, me, count, seed, 10 * index + i), others(me, peer_of(me), count, seed, 10 * (1 - index) + i);
          if (i < 2) made.truth[index][i] = own.dealt.truth;
          made.mine[index][i] = std::move(own.dealt.mine);
          made.peers[index][i] = std::move(others.dealt.peers);
        }
        const auto view = [&](std::size_t i) { return SharedView{made.mine[index][i].view(), made.peers[index][i].view()}; };
        LeakyTriples triples(session, 0, view(0), view(1), view(2));
        in_steps(
            object_chunks(count), ahead, [&](const ObjectChunk& chunk) { triples.offer(chunk); }, [&](const ObjectChunk& chunk) { triples.announce(chunk); },
            [&](const ObjectChunk& chunk) { triples.finish(chunk); });
        compare_digests(session, "LaTriple", triples.check_digest(), cheater);
      },
      options_with(cheater, seed, deviation), false);
  return made;
}

void expect_products(const Triples& made, std::uint64_t seed) {
  std::vector<bool> bits[2][3];
  for (const int party : {0, 1})
    for (std::size_t i = 0; i < 3; ++i)
      bits[party][i] = checked_bits(made.mine[party][i], made.peers[1 - party][i], key_for_triples(static_cast<Party>(1 - party), seed));
  for (std::size_t j = 0; j < bits[0][0].size(); ++j) {
    const bool x = bits[0][0][j] ^ bits[1][0][j], y = bits[0][1][j] ^ bits[1][1][j], z = bits[0][2][j] ^ bits[1][2][j];
    ASSERT_EQ(z, x && y) << j;
    for (const int party : {0, 1}) {
      ASSERT_EQ(bits[party][0][j], made.truth[party][0][j]);
      ASSERT_EQ(bits[party][1][j], made.truth[party][1][j]);
    }
  }
}

TEST(LeakyTriple, HonestRunsGiveProducts) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65}, kChunkObjects, kChunkObjects + 1, 3 * kChunkObjects}) {
    const Triples made = make(Party::A, count, nothing, count, count % 3);
    EXPECT_EQ(made.outcomes.a.kind, Outcome::Kind::Done) << made.outcomes.a.message;
    EXPECT_EQ(made.outcomes.b.kind, Outcome::Kind::Done) << made.outcomes.b.message;
    expect_products(made, count);
  }
}

TEST(LeakyTriple, SharesOfZAreBalanced) {
  const Triples made = make(Party::A, 1, nothing, 4096);
  for (const int party : {0, 1}) {
    for (std::size_t first = 0; first < 4096; first += 512) {
      int ones = 0;
      for (std::size_t j = first; j < first + 512; ++j) ones += made.mine[party][2].bits[j];
      EXPECT_LT(std::abs(ones - 256), 6 * 12) << first;
    }
  }
}

// The other party uses G only where its x is 1: a wrong G is a guess at that bit, whichever of its bits is wrong, the lowest too.
TEST(LeakyTriple, AWrongGIsAGuessAtX) {
  constexpr std::size_t kRuns = 200;
  for (const Party cheater : {Party::A, Party::B}) {
    const Party honest = peer_of(cheater);
    std::size_t caught = 0;
    for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
      const std::size_t object = seed % kCount, bit = seed % 5 == 0 ? 0 : seed % 128;
      const Triples made = make(cheater, seed, flip_bit("latriple.g", 0, 128 * object + bit));
      const bool was_caught = caught_by(of(made.outcomes, honest), "EQ of LaTriple");
      EXPECT_EQ(was_caught, made.truth[static_cast<int>(honest)][0][object]) << seed;
      caught += was_caught;
      if (!was_caught) expect_products(made, seed);
    }
    expect_half(caught, kRuns);
  }
}

TEST(LeakyTriple, AWrongDIsAlwaysFound) {
  for (const Party cheater : {Party::A, Party::B})
    for (std::uint64_t seed = 0; seed < 20; ++seed)
      EXPECT_TRUE(caught_by(of(make(cheater, seed, flip_bit("latriple.d", 0, seed * 3 % kCount)).outcomes, peer_of(cheater)), "EQ of LaTriple"));
}

TEST(LeakyTriple, KeysThatDoNotFitAreOurBug) {
  const Outcomes outcomes = run_sessions(
      [&](Session& session) {
        PhaseLog log;
        Delta wrong = key_for_triples(session.me(), 1);
        wrong.value.lo ^= 1;
        Session other(session.me(), {session.id(), session.id()}, wrong, session.channel(), session.rng().fork(), log);
        LeakyTriples(other, 0, {}, {}, {});
      },
      {}, false);
  EXPECT_EQ(outcomes.a.kind, Outcome::Kind::Other) << outcomes.a.message;
  EXPECT_EQ(outcomes.b.kind, Outcome::Kind::Other) << outcomes.b.message;
}

TEST(LeakyTriple, CostsWhatTheHeaderSays) {
  std::uint64_t sent[2] = {};
  make(Party::A, 1, [&](std::string_view tag, std::size_t, std::vector<std::byte>& payload) {
    if (tag == "latriple.g") sent[0] += payload.size();
    if (tag == "latriple.d") sent[1] += payload.size();
  });
  EXPECT_EQ(sent[0], 16 * kCount);
  EXPECT_EQ(sent[1], (kCount + 7) / 8);
}

}  // namespace
}  // namespace tinyot
