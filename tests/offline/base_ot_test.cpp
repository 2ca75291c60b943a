// Base OTs from both sources: the chosen seeds are equal, the other ones are not; invalid points
// are rejected.
#include "offline/base_ot/base_ot.h"

#include "crypto/group.h"
#include "tests/offline/dealt.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr std::size_t kBaseOts = 32;

struct BothSides {
  BaseOts a, b;
  Outcomes outcomes;
};

BothSides by_public_key(const PartyOptions& options = {}, bool expect_done = true) {
  BothSides sides;
  sides.outcomes = run_sessions(
      [&](Session& session) {
        (session.me() == Party::A ? sides.a : sides.b) = base_ots_by_public_key(session, kBaseOts);
      },
      options, expect_done);
  return sides;
}

bool same_seed(Seed a, Seed b) { return test::same(a.value, b.value); }

void expect_random_ots(const BaseOtSent& sent, const BaseOtReceived& received) {
  ASSERT_EQ(sent.pairs.size(), received.choices.size());
  ASSERT_EQ(sent.pairs.size(), received.seeds.size());
  std::size_t ones = 0;
  for (std::size_t i = 0; i < sent.pairs.size(); ++i) {
    const bool choice = received.choices[i];
    ones += choice;
    EXPECT_TRUE(same_seed(received.seeds[i], choice ? sent.pairs[i].one : sent.pairs[i].zero)) << i;
    EXPECT_FALSE(same_seed(received.seeds[i], choice ? sent.pairs[i].zero : sent.pairs[i].one))
        << i;
    if (i > 0) {
      EXPECT_FALSE(same_seed(received.seeds[i - 1], received.seeds[i])) << i;
    }
  }
  EXPECT_GT(ones, sent.pairs.size() / 8);
  EXPECT_LT(ones, sent.pairs.size() * 7 / 8);
}

TEST(BaseOt, PublicKeySeedsAgreeInTheChosenSeed) {
  const BothSides sides = by_public_key();
  expect_random_ots(sides.a.sent, sides.b.received);
  expect_random_ots(sides.b.sent, sides.a.received);
}

TEST(BaseOt, MatchesTheDocumentedCost) {
  run_sessions([](Session& session) {
    const ChannelCounters before = session.channel().counters();
    base_ots_by_public_key(session, kBaseOts);
    EXPECT_EQ(session.channel().counters().bytes_sent - before.bytes_sent,
              2 * 16 + (64 + 32) * kBaseOts);
    EXPECT_EQ(session.channel().counters().rounds - before.rounds, 2u);
  });
}

TEST(BaseOt, AuthBitsMakeSeedsWithoutCommunication) {
  BaseOts of[2];
  run_sessions([&](Session& session) {
    Dealt of_a(session.me(), Party::A, kBaseOts, 1, 0),
        of_b(session.me(), Party::B, kBaseOts, 1, 1);
    Dealt& mine = session.me() == Party::A ? of_a : of_b;
    Dealt& peers = session.me() == Party::A ? of_b : of_a;
    const std::uint64_t before = session.channel().counters().bytes_sent;
    of[static_cast<int>(session.me())] =
        base_ots_from_auth_bits(session, mine.mine.view(), peers.peers.view());
    EXPECT_EQ(session.channel().counters().bytes_sent, before);
  });
  expect_random_ots(of[0].sent, of[1].received);
  expect_random_ots(of[1].sent, of[0].received);
}

TEST(BaseOt, RepeatedUseOfTheSameBitsGivesOtherSeeds) {
  run_sessions([](Session& session) {
    Dealt of_a(session.me(), Party::A, kBaseOts, 1, 0),
        of_b(session.me(), Party::B, kBaseOts, 1, 1);
    Dealt& mine = session.me() == Party::A ? of_a : of_b;
    Dealt& peers = session.me() == Party::A ? of_b : of_a;
    const BaseOts first = base_ots_from_auth_bits(session, mine.mine.view(), peers.peers.view());
    const BaseOts second = base_ots_from_auth_bits(session, mine.mine.view(), peers.peers.view());
    for (std::size_t i = 0; i < kBaseOts; ++i)
      EXPECT_FALSE(same_seed(first.received.seeds[i], second.received.seeds[i]));
  });
}

// Replaces point `index` of a message.
Deviation replace_point(const char* tag, std::size_t index, const Point& point) {
  return [=](std::string_view sent, std::size_t, std::vector<std::byte>& payload) {
    if (sent == tag) std::memcpy(payload.data() + 32 * index, &point, 32);
  };
}

TEST(BaseOt, EitherSideRejectsInvalidPoints) {
  Point identity{}, ones{}, odd{};
  ones.bytes.fill(0xFF);
  odd.bytes[0] = 1;
  for (const Party cheater : {Party::A, Party::B}) {
    for (const Point& point : {identity, ones, odd}) {
      for (const std::size_t index : {std::size_t{0}, kBaseOts - 1, 2 * kBaseOts - 1})
        EXPECT_TRUE(caught_by(
            of(by_public_key(options_with(cheater, 1, replace_point("base_ot.r", index, point)),
                             false)
                   .outcomes,
               peer_of(cheater)),
            "base OT point"));
      for (const std::size_t index : {std::size_t{0}, kBaseOts - 1})
        EXPECT_TRUE(caught_by(
            of(by_public_key(options_with(cheater, 1, replace_point("base_ot.s", index, point)),
                             false)
                   .outcomes,
               peer_of(cheater)),
            "base OT point"));
    }
  }
}

// Another valid point makes this OT wrong for both parties, but no other OT.
TEST(BaseOt, AlteredPointAffectsOneOtOnly) {
  const BothSides sides = by_public_key(options_with(
      Party::B, 1, [](std::string_view tag, std::size_t, std::vector<std::byte>& payload) {
        if (tag == "base_ot.r")
          std::swap_ranges(payload.begin(), payload.begin() + 32, payload.begin() + 32);
      }));
  for (std::size_t i = 0; i < kBaseOts; ++i) {
    const SeedPair& pair = sides.a.sent.pairs[i];
    EXPECT_EQ(
        same_seed(sides.b.received.seeds[i], sides.b.received.choices[i] ? pair.one : pair.zero),
        i != 0)
        << i;
  }
}

}  // namespace
}  // namespace tinyot
