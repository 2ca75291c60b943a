// Parties over a bad network: whatever happens to a connection, and at whichever byte, both end in
// time with status 3, or are done; nobody takes the other one for a cheater; and over a good
// network they go on from there, with stores that agree, right outputs and nothing served twice.
//
// TINYOT_CUTS: how many strikes at random bytes; TINYOT_STALLS: likewise, of those that only
// waiting tells; TINYOT_EVERY: of the handshake and the stores' agreement, every so manieth byte;
// TINYOT_SEED chooses; TINYOT_AT_ONCE: how many couples live at a time.
#include <gtest/gtest.h>

#include "tests/reliability/couple.h"
#include "tests/support/layers.h"
#include "tests/support/repetitions.h"

namespace tinyot::test {
namespace {

using namespace std::chrono_literals;

// bytes in which a handshake and the stores' agreement lie
constexpr std::uint64_t kBeginning = 3000;
constexpr int kAttemptsMax = 40;

std::uint64_t seed() { return from_environment("TINYOT_SEED", 1); }

// Strikes of these kinds, half of them in the beginning of a session and half of them anywhere.
class Striker {
 public:
  Striker(std::vector<Fault> faults, std::uint64_t seed)
      : faults_(std::move(faults)), random_(seed) {}

  WirePlan next(const Traffic& usual, std::size_t connections = 1) {
    const Fault fault = faults_[random_() % faults_.size()];
    const auto direction = random_() % 2;
    const std::uint64_t end = usual[direction] + 1;
    const std::uint64_t at = random_() % (random_() % 2 == 0 ? std::min(kBeginning, end) : end);
    return {.strike = Strike{fault, kBothDirections[direction], at, random_() % connections}};
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

// A store from nothing to its last unit and some runs on it, with so many strikes on the way in
// either.
void tell(const Setting& setting, const Usual& usual, NetworkTally& tally,
          std::vector<Fault> faults, std::uint64_t strikes, std::uint64_t seed) {
  Couple couple(setting, tally, seed);
  Striker striker(std::move(faults), seed);
  std::uint64_t struck = 0;
  const auto suffer = [&](std::uint64_t until, const auto& session) {
    for (int attempt = 0;
         attempt < kAttemptsMax && struck < until && !::testing::Test::HasFailure(); ++attempt) {
      session();
      struck += couple.has_struck();
      if (couple.are_both_done() && !couple.has_struck()) return;
    }
  };
  suffer((strikes + 1) / 2,
         [&] { couple.preprocess(striker.next(usual.preprocess, setting.connections)); });
  couple.preprocess({});
  if (::testing::Test::HasFailure()) return;
  while (struck < strikes && !couple.is_short_of_material() && !::testing::Test::HasFailure())
    suffer(strikes, [&] { couple.run(striker.next(usual.run)); });
  couple.settle();
}

// So many strikes, story by story, of all settings in turn.
void tell_stories(const std::string& title, std::vector<Fault> faults, std::uint64_t strikes,
                  std::uint64_t strikes_of_a_story, std::uint64_t at_once) {
  NetworkTally tally;
  std::vector<Usual> usual(settings().size());
  for_each_at_once(usual.size(), at_once,
                   [&](std::uint64_t i) { usual[i] = usual_of(settings()[i], tally); });
  for_each_at_once(
      (strikes + strikes_of_a_story - 1) / strikes_of_a_story, at_once, [&](std::uint64_t story) {
        const std::size_t i = story % usual.size();
        tell(settings()[i], usual[i], tally, faults, strikes_of_a_story, seed() * 1000003 + story);
      });
  tally.print(title, seed());
  // a store may be used up before its last strikes
  EXPECT_GE(tally.struck() + 2 * strikes_of_a_story, strikes);
}

TEST(Network, PartiesGoOnAfterCutsAndResetsAnywhere) {
  tell_stories("cuts", {Fault::Cut, Fault::CutHalf, Fault::Reset},
               from_environment("TINYOT_CUTS", repetitions(40)), 10,
               from_environment("TINYOT_AT_ONCE", 3));
}

TEST(Network, PartiesEndInTimeWhenNothingComesAnyMore) {
  tell_stories("stalls", {Fault::Stall, Fault::Swallow},
               from_environment("TINYOT_STALLS", repetitions(16)), 2,
               from_environment("TINYOT_AT_ONCE", 8));
}

using Session = Traffic (Couple::*)(const WirePlan&);

// Every so manieth byte of the sessions of a setting that only shake hands and let the stores
// agree.
std::vector<std::pair<Session, Strike>> strikes_at_handshake(const Setting& setting,
                                                             NetworkTally& tally,
                                                             std::uint64_t step) {
  std::vector<std::pair<Session, Strike>> all;
  Couple couple(setting, tally, seed());
  couple.preprocess({});
  for (const Session session : {&Couple::reserve, &Couple::preprocess, &Couple::verify}) {
    const Traffic usual = (couple.*session)({});
    for (const Direction direction : kBothDirections)
      for (const Fault fault : {Fault::Cut, Fault::Reset})
        for (std::uint64_t at = (seed() + all.size() * 7) % step;
             at <= usual[static_cast<std::size_t>(direction)]; at += step)
          all.push_back({session, {fault, direction, at}});
  }
  return all;
}

TEST(Network, PartiesGoOnAfterCutsAtAnyByteOfTheHandshake) {
  const std::uint64_t step = from_environment("TINYOT_EVERY", 1009),
                      at_once = from_environment("TINYOT_AT_ONCE", 6);
  NetworkTally tally;
  for (const std::size_t number : {kFastTcp, kFastTls}) {
    const Setting& setting = settings()[number];
    const auto all = strikes_at_handshake(setting, tally, step);
    const std::size_t of_a_couple = std::min<std::size_t>(64, all.size() / at_once + 1);
    for_each_at_once((all.size() + of_a_couple - 1) / of_a_couple, at_once,
                     [&](std::uint64_t part) {
                       Couple couple(setting, tally, seed() + part);
                       couple.preprocess({});
                       for (std::size_t i = part * of_a_couple;
                            i < std::min(all.size(), (part + 1) * of_a_couple); ++i)
                         (couple.*all[i].first)({.strike = all[i].second});
                       couple.settle();
                     });
  }
  tally.print("handshake and agreement", seed());
}

TEST(Network, SplitsAndDelaysChangeNothing) {
  NetworkTally tally;
  for_each_at_once(settings().size(), 2, [&](std::uint64_t number) {
    Couple couple(settings()[number], tally, seed());
    const auto expect_done = [&] {
      EXPECT_TRUE(couple.are_both_done()) << couple.ended().a.err << couple.ended().b.err;
    };
    couple.preprocess({.chunk_bytes_max = 1000});
    expect_done();
    for (const std::size_t most : {1u, 2u, 20u}) {
      couple.run({.chunk_bytes_max = most});
      expect_done();
    }
    couple.run({.chunk_bytes_max = 200, .delay_max = 2ms});
    expect_done();
    couple.settle();
  });
  tally.print("splits and delays", seed());
}

}  // namespace
}  // namespace tinyot::test
