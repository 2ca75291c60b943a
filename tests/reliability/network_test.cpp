// Parties over a bad network: whatever happens to a connection, and at whichever byte, both end in time with status 3, or are done; nobody takes the
// other one for a cheater; and over a good network they go on from there, with stores that agree, right outputs and nothing served twice.
//
// TINYOT_CUTS: how many strikes at random bytes; TINYOT_STALLS: likewise, of those that only waiting tells; TINYOT_EVERY: of the handshake and the
// stores' agreement, every so manieth byte; TINYOT_SEED chooses; TINYOT_AT_ONCE: how many couples live at a time.
#include <gtest/gtest.h>

#include <functional>

#include "tests/reliability/couple.h"
#include "tests/support/repetitions.h"

namespace tinyot::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kBeginning = 3000;  // bytes in which a handshake and the stores' agreement lie
constexpr int kAttemptsMax = 40;

std::uint64_t seed() { return from_environment("TINYOT_SEED", 1); }

// Calls body(0), ..., body(count - 1), some at a time; no further ones after a failure.
void for_each_at_once(std::uint64_t count, std::uint64_t at_once, const std::function<void(std::uint64_t)>& body) {
  std::atomic<std::uint64_t> next = 0;
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < std::min(count, at_once); ++i)
    threads.emplace_back([&] {
      for (std::uint64_t number = next++; number < count && !::testing::Test::HasFailure(); number = next++) body(number);
    });
  for (std::thread& thread : threads) thread.join();
}

// Strikes of these kinds, half of them in the beginning of a session and half of them anywhere.
class Striker {
 public:
  Striker(std::vector<Fault> faults, std::uint64_t seed) : faults_(std::move(faults)), random_(seed) {}

  WirePlan next(const Traffic& usual) {
    const Fault fault = faults_[random_() % faults_.size()];
    const auto direction = random_() % 2;
    const std::uint64_t end = usual[direction] + 1;
    const std::uint64_t at = random_() % (random_() % 2 == 0 ? std::min(kBeginning, end) : end);
    return {.strike = Strike{fault, kBothDirections[direction], at}};
  }

 private:
  std::vector<Fault> faults_;
  std::mt19937_64 random_;
};

// What sessions of a setting send if nothing happens.
struct Usual {
  Traffic preprocess, run;
};

Usual usual_of(const Setting& setting, NetworkTally& tally) {
  Couple couple(setting, tally, seed());
  Usual usual;
  usual.preprocess = couple.preprocess({});
  usual.run = couple.run({});
  return usual;
}

class Network : public ::testing::TestWithParam<std::size_t> {
 protected:
  const Setting& setting() const { return settings()[GetParam()]; }
  NetworkTally tally_;
};

INSTANTIATE_TEST_SUITE_P(Over, Network, ::testing::Range<std::size_t>(0, 4), [](const auto& number) { return settings()[number.param].name; });

// A store from nothing to its last unit and some runs on it, with so many strikes on the way in either.
void tell(const Setting& setting, const Usual& usual, NetworkTally& tally, std::vector<Fault> faults, std::uint64_t strikes, std::uint64_t seed) {
  Couple couple(setting, tally, seed);
  Striker striker(std::move(faults), seed);
  std::uint64_t struck = 0;
  const auto suffer = [&](std::uint64_t until, const auto& session) {
    for (int attempt = 0; attempt < kAttemptsMax && struck < until && !::testing::Test::HasFailure(); ++attempt) {
      session();
      struck += couple.has_struck();
      if (couple.are_both_done() && !couple.has_struck()) return;
    }
  };
  suffer((strikes + 1) / 2, [&] { couple.preprocess(striker.next(usual.preprocess)); });
  couple.preprocess({});
  if (::testing::Test::HasFailure()) return;
  while (struck < strikes && !couple.is_short_of_material()) suffer(strikes, [&] { couple.run(striker.next(usual.run)); });
  couple.settle();
}

TEST_P(Network, PartiesGoOnAfterCutsAndResetsAnywhere) {
  constexpr std::uint64_t kStrikesOfAStory = 8;
  const std::uint64_t strikes = from_environment("TINYOT_CUTS", repetitions(64)) / settings().size();
  const Usual usual = usual_of(setting(), tally_);
  for_each_at_once((strikes + kStrikesOfAStory - 1) / kStrikesOfAStory, from_environment("TINYOT_AT_ONCE", 3), [&](std::uint64_t story) {
    tell(setting(), usual, tally_, {Fault::Cut, Fault::CutHalf, Fault::Reset}, kStrikesOfAStory, seed() * 1000003 + story);
  });
  tally_.print(setting().name, seed());
  EXPECT_GE(tally_.struck(), HasFailure() ? 0 : strikes);
}

TEST_P(Network, PartiesEndInTimeWhenNothingComesAnyMore) {
  const std::uint64_t strikes = from_environment("TINYOT_STALLS", repetitions(32)) / settings().size();
  const Usual usual = usual_of(setting(), tally_);
  for_each_at_once((strikes + 1) / 2, from_environment("TINYOT_AT_ONCE", 8), [&](std::uint64_t story) {
    tell(setting(), usual, tally_, {Fault::Stall, Fault::Swallow}, 2, seed() * 1000033 + story);
  });
  tally_.print(setting().name, seed());
  EXPECT_GE(tally_.struck(), HasFailure() ? 0 : strikes);
}

// Every so manieth byte of a session that only shakes hands and lets the stores agree.
TEST_P(Network, PartiesGoOnAfterCutsAtAnyByteOfTheHandshake) {
  using Session = Traffic (Couple::*)(const WirePlan&);
  const std::uint64_t step = from_environment("TINYOT_EVERY", 1009);
  const auto with_couple = [&](const auto& body) {
    Couple couple(setting(), tally_, seed());
    couple.preprocess({});
    body(couple);
    couple.settle();
  };
  std::vector<std::pair<Session, Strike>> all;
  for (const Session session : {&Couple::reserve, &Couple::preprocess, &Couple::verify})
    with_couple([&](Couple& couple) {
      const Traffic usual = (couple.*session)({});
      for (const Direction direction : kBothDirections)
        for (const Fault fault : {Fault::Cut, Fault::Reset})
          for (std::uint64_t at = (all.size() * 7) % step; at <= usual[static_cast<std::size_t>(direction)]; at += step) all.push_back({session, {fault, direction, at}});
    });
  constexpr std::size_t kOfACouple = 64;
  for_each_at_once((all.size() + kOfACouple - 1) / kOfACouple, from_environment("TINYOT_AT_ONCE", 3), [&](std::uint64_t part) {
    with_couple([&](Couple& couple) {
      for (std::size_t i = part * kOfACouple; i < std::min(all.size(), (part + 1) * kOfACouple); ++i) (couple.*all[i].first)({.strike = all[i].second});
    });
  });
  tally_.print(setting().name + ", handshake and agreement", seed());
}

TEST_P(Network, SplitsAndDelaysChangeNothing) {
  Couple couple(setting(), tally_, seed());
  couple.preprocess({.chunk_bytes_max = 1000});
  EXPECT_TRUE(couple.are_both_done());
  for (const std::size_t most : {1u, 2u, 20u}) {
    couple.run({.chunk_bytes_max = most});
    EXPECT_TRUE(couple.are_both_done());
  }
  couple.run({.chunk_bytes_max = 200, .delay_max = 2ms});
  EXPECT_TRUE(couple.are_both_done());
  couple.settle();
  tally_.print(setting().name, seed());
}

}  // namespace
}  // namespace tinyot::test
