// Folding layers of triples, on dealt ones.
#include "offline/auth_triple.h"

#include "tests/offline/dealt.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

// Layers of good triples, dealt alike to both: number `number`, of `count`.
TripleLayer dealt_layer(Party me, std::size_t count, std::uint64_t number) {
  TripleLayer layer(count);
  BitVector share[2][3];
  for (const Party owner : {Party::A, Party::B})
    for (std::size_t i = 0; i < 3; ++i) share[static_cast<int>(owner)][i] = Dealt(owner, owner, count, number, 10 * static_cast<std::uint64_t>(owner) + i).truth;
  for (const Party owner : {Party::A, Party::B}) {
    for (std::size_t i = 0; i < 3; ++i) {
      Dealt dealt(me, owner, count, number, 10 * static_cast<std::uint64_t>(owner) + i);
      const Delta delta = global_key_of(peer_of(owner), 1);
      SharedBits& bits = i == 0 ? layer.x : i == 1 ? layer.y : layer.z;
      for (std::size_t j = 0; j < count; ++j) {
        // A's share of z makes z the product.
        bool bit = share[static_cast<int>(owner)][i][j];
        if (i == 2 && owner == Party::A)
          bit = ((share[0][0][j] ^ share[1][0][j]) & (share[0][1][j] ^ share[1][1][j])) ^ share[1][2][j];
        if (me == owner) {
          const Key key = Dealt(peer_of(owner), owner, count, number, 10 * static_cast<std::uint64_t>(owner) + i).peers.keys[j];
          bits.mine.bits.put(j, bit);
          bits.mine.macs[j] = key ^ delta * bit;
        } else {
          bits.peers.keys[j] = dealt.peers.keys[j];
        }
      }
    }
  }
  return layer;
}

struct Folded {
  TripleLayer of[2];
  std::size_t shifts[2][3] = {};
  Outcomes outcomes;
};

Folded fold(std::size_t count, std::size_t layers, Party cheater = Party::A, const Deviation& deviation = [](std::string_view, std::size_t, std::vector<std::byte>&) {}) {
  Folded folded;
  folded.outcomes = run_sessions(
      [&](Session& session) {
        const auto me = static_cast<int>(session.me());
        TripleLayer into = dealt_layer(session.me(), count, 1);
        for (std::size_t k = 1; k < layers; ++k) {
          TripleLayer layer = dealt_layer(session.me(), count, 1 + k);
          folded.shifts[me][k] = toss_shift(session, k, count);
          fold_layer(session, folded.shifts[me][k], count, layer, into);
        }
        settle_transcripts(session);
        folded.of[me] = std::move(into);
      },
      options_with(cheater, 1, deviation), false);
  return folded;
}

void expect_products(const Folded& folded) {
  std::vector<bool> bits[2][3];
  for (const int party : {0, 1}) {
    const TripleLayer &holder = folded.of[party], &checker = folded.of[1 - party];
    const Delta delta = global_key_of(static_cast<Party>(1 - party), 1);
    bits[party][0] = checked_bits(holder.x.mine, checker.x.peers, delta);
    bits[party][1] = checked_bits(holder.y.mine, checker.y.peers, delta);
    bits[party][2] = checked_bits(holder.z.mine, checker.z.peers, delta);
  }
  for (std::size_t j = 0; j < bits[0][0].size(); ++j)
    ASSERT_EQ(bits[0][2][j] ^ bits[1][2][j], (bits[0][0][j] ^ bits[1][0][j]) && (bits[0][1][j] ^ bits[1][1][j])) << j;
}

TEST(AuthTriple, FoldedLayersAreProducts) {
  for (const std::size_t count : {1u, 2u, 63u, 64u, 65u, 200u, 513u}) {
    for (const std::size_t layers : {2u, 3u}) {
      const Folded folded = fold(count, layers);
      ASSERT_EQ(folded.outcomes.a.kind, Outcome::Kind::Done) << folded.outcomes.a.message;
      ASSERT_EQ(folded.outcomes.b.kind, Outcome::Kind::Done) << folded.outcomes.b.message;
      EXPECT_EQ(folded.shifts[0][1], folded.shifts[1][1]);
      EXPECT_LT(folded.shifts[0][1], count);
      expect_products(folded);
    }
  }
}

TEST(AuthTriple, AWrongCombinerBitIsFound) {
  for (const Party cheater : {Party::A, Party::B})
    for (const std::size_t bit : {0u, 99u})
      for (const std::size_t layer : {0u, 1u})
        EXPECT_TRUE(caught_by(of(fold(100, 3, cheater, flip_bit("triple.d", layer, bit)).outcomes, peer_of(cheater)), "MAC transcript"));
}

TEST(AuthTriple, EveryShiftIsAsLikely) {
  constexpr std::size_t kCount = 7, kTosses = 1400;
  std::size_t seen[kCount] = {};
  run_sessions([&](Session& session) {
    for (std::size_t i = 0; i < kTosses; ++i) {
      const std::size_t shift = toss_shift(session, 1, kCount);
      if (session.me() == Party::A) ++seen[shift];
    }
  });
  for (const std::size_t count : seen) EXPECT_LT(std::abs(static_cast<double>(count) - 200), 6 * std::sqrt(200));
}

}  // namespace
}  // namespace tinyot
