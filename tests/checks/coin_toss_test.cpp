// Coin tosses: both parties get the same fresh bits, and A cannot open another half than its
// committed one.
#include "checks/coin_toss.h"

#include <gtest/gtest.h>

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

ChannelWrapper altered(const char* tag, std::size_t bit) {
  return [=](std::unique_ptr<Channel> inner) {
    return make_cheating_channel(std::move(inner), flip_bit(tag, 0, bit));
  };
}

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

// A opens another half than the one it committed to.
TEST(CoinToss, RejectsReplacedHalf) {
  const Tossed tossed =
      toss({.wrap_b = in_transit([](const Arrival& arrival) {
              if (arrival.tag != "coin_toss.opening") return;
              std::fill(arrival.received.begin(), arrival.received.begin() + 32, std::byte{0});
            })});
  EXPECT_EQ(tossed.outcomes.b.check, "coin toss");
}

// B's half changes the result, so A alone does not determine it.
TEST(CoinToss, DependsOnBothHalves) {
  const Tossed honest = toss({.seed = 7});
  const Tossed other = toss({.seed = 7, .wrap_b = altered("coin_toss.answer", 3)});
  EXPECT_NE(honest.a, other.a);
}

}  // namespace
}  // namespace tinyot
