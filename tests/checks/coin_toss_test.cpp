// Coin tosses: both parties get the same fresh bits, and A cannot open a half other than the one
// that it committed to.
#include "checks/coin_toss.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/checks/transit_channel.h"
#include "tests/support/cheating_channel.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;
using Kind = Outcome::Kind;

struct Tossed {
  std::vector<PublicSeed> a, b;
  Outcomes outcomes;
};

Tossed toss(const PartyOptions& options = {}, std::size_t times = 1,
            std::string_view purpose_of_b = "test") {
  Tossed tossed;
  tossed.outcomes = run_sessions(
      [&](Session& session) {
        for (std::size_t i = 0; i < times; ++i)
          (session.me() == Party::A ? tossed.a : tossed.b)
              .push_back(toss_coins(session, session.me() == Party::A ? "test" : purpose_of_b));
      },
      options, false);
  return tossed;
}

// The first 32 bytes of a message.
PublicSeed first_seed(std::span<const std::byte> message) {
  PublicSeed seed;
  std::ranges::copy(message.first(seed.size()), std::as_writable_bytes(std::span(seed)).begin());
  return seed;
}
void put(std::span<std::byte> message, const PublicSeed& seed) {
  std::ranges::copy(std::as_bytes(std::span(seed)), message.begin());
}

ChannelWrapper altered(const char* tag, std::size_t bit) { return cheating(flip_bit(tag, 0, bit)); }

TEST(CoinToss, GivesBothPartiesTheSameFreshCoins) {
  std::set<PublicSeed> seen;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Tossed tossed = toss({.seed = seed}, 5);
    EXPECT_EQ(tossed.a, tossed.b);
    seen.insert(tossed.a.begin(), tossed.a.end());
  }
  EXPECT_EQ(seen.size(), 100u);
}

TEST(CoinToss, EveryBitIsBalanced) {
  std::array<int, 256> ones{};
  constexpr int kTosses = 400;
  for (const PublicSeed& coins : toss({}, kTosses).a)
    for (std::size_t bit = 0; bit < 256; ++bit) ones[bit] += (coins[bit / 8] >> (bit % 8)) & 1;
  for (const int count : ones) EXPECT_LT(std::abs(count - kTosses / 2), 6 * 10);
}

TEST(CoinToss, RejectsOpeningOfAnotherHalfOrSalt) {
  for (const std::size_t bit : {0u, 255u, 256u, 511u}) {
    const Tossed tossed = toss({.wrap_a = altered("coin_toss.opening", bit)});
    EXPECT_EQ(tossed.outcomes.b.check, "coin toss") << bit;
  }
}

TEST(CoinToss, ComparesEveryByteOfTheCommitment) {
  for (std::size_t byte = 0; byte < 32; ++byte)
    EXPECT_EQ(toss({.wrap_a = altered("coin_toss.commitment", 8 * byte + 7)}).outcomes.b.check,
              "coin toss")
        << byte;
}

TEST(CoinToss, RejectsAnotherPurpose) {
  EXPECT_EQ(toss({}, 1, "another").outcomes.b.check, "coin toss");
}

// A opens a half other than the one that it committed to.
TEST(CoinToss, RejectsReplacedHalf) {
  const Tossed tossed =
      toss({.wrap_b = in_transit([](const Arrival& arrival) {
              if (arrival.tag != "coin_toss.opening") return;
              std::fill(arrival.received.begin(), arrival.received.begin() + 32, std::byte{0});
            })});
  EXPECT_EQ(tossed.outcomes.b.check, "coin toss");
}

// A opens B's half, which it has received by then, in place of its own.
TEST(CoinToss, RejectsReflectedHalf) {
  PublicSeed of_b{};
  PartyOptions options;
  options.wrap_a = in_transit([&](const Arrival& arrival) {
    if (arrival.tag == "coin_toss.answer") of_b = first_seed(arrival.received);
  });
  options.wrap_b = in_transit([&](const Arrival& arrival) {
    if (arrival.tag == "coin_toss.opening") put(arrival.received, of_b);
  });
  EXPECT_EQ(toss(options).outcomes.b.check, "coin toss");
}

// B sends A's commitment back as its own half. Every string is a valid half, so A cannot reject it.
// It is harmless: A's half is still unknown to B, and the coins are a hash of both halves.
TEST(CoinToss, ReflectedCommitmentDoesNotFixTheCoins) {
  std::set<PublicSeed> seen;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    PublicSeed commitment{};
    PartyOptions options{.seed = seed};
    options.wrap_b = in_transit([&](const Arrival& arrival) {
      if (arrival.tag == "coin_toss.commitment") commitment = first_seed(arrival.received);
    });
    options.wrap_a = in_transit([&](const Arrival& arrival) {
      if (arrival.tag == "coin_toss.answer") put(arrival.received, commitment);
    });
    const Tossed tossed = toss(options);
    EXPECT_EQ(tossed.outcomes.a.kind, Kind::Done);
    EXPECT_NE(tossed.a, tossed.b) << "B's half was not replaced";
    EXPECT_NE(tossed.a.at(0), commitment);
    seen.insert(tossed.a.at(0));
  }
  EXPECT_EQ(seen.size(), 20u);
}

// The commitment is bound to the toss: a commitment and its opening are not valid in a later one.
TEST(CoinToss, RejectsReplayFromEarlierToss) {
  std::map<std::string, std::vector<std::byte>> first;
  const Tossed tossed = toss({.wrap_b = in_transit([&](const Arrival& arrival) {
                                if (!arrival.tag.starts_with("coin_toss.")) return;
                                const auto [kept, is_first] = first.try_emplace(
                                    arrival.tag, arrival.received.begin(), arrival.received.end());
                                if (!is_first)
                                  std::ranges::copy(kept->second, arrival.received.begin());
                              })},
                             2);
  EXPECT_EQ(tossed.outcomes.b.check, "coin toss");
  EXPECT_EQ(tossed.b.size(), 1u) << "the first toss is honest";
}

// Each party's half changes the coins of both, in the same toss of the same session.
TEST(CoinToss, DependsOnBothHalves) {
  std::set<PublicSeed> seen;
  for (const bool other_a : {false, true})
    for (const bool other_b : {false, true}) {
      PublicSeed coins[2];
      run_sessions([&](Session& session) {
        if (session.me() == Party::A ? other_a : other_b) session.rng().block();
        coins[session.me() == Party::B] = toss_coins(session, "test");
      });
      EXPECT_EQ(coins[0], coins[1]);
      seen.insert(coins[0]);
    }
  EXPECT_EQ(seen.size(), 4u);
}

}  // namespace
}  // namespace tinyot
