// Parties over a faulty network. For any fault at any byte of a connection, both end in time with
// status 0 or 3, and neither reports cheating. They then continue without faults: the stores agree,
// outputs are correct, and nothing is served twice.
//
// TINYOT_CUTS: number of cuts and resets at random bytes; TINYOT_STALLS: the same for stalls, which
// end by timeout; TINYOT_EVERY: distance of the tested bytes in handshake and store
// synchronisation; TINYOT_SEED: seed; TINYOT_AT_ONCE: number of concurrent pairs.
#include <gtest/gtest.h>

#include "tests/reliability/party_pair.h"
#include "tests/support/layers.h"
#include "tests/support/repetitions.h"

namespace tinyot::test {
namespace {

using namespace std::chrono_literals;

// bytes at the beginning of a session that include handshake and store synchronisation
constexpr std::uint64_t kBeginning = 3000;
constexpr int kAttemptsMax = 40;

std::uint64_t seed() { return from_environment("TINYOT_SEED", 1); }

// Chooses faults of these kinds, half of them at the beginning of a session.
class FaultChooser {
 public:
  FaultChooser(std::vector<Fault> faults, std::uint64_t seed)
      : faults_(std::move(faults)), random_(seed) {}

  Relay::Plan next(const Traffic& usual, std::size_t connections = 1) {
    const Fault fault = faults_[random_() % faults_.size()];
    const auto direction = random_() % 2;
    const std::uint64_t end = usual[direction] + 1;
    const std::uint64_t at = random_() % (random_() % 2 == 0 ? std::min(kBeginning, end) : end);
    return {.fault_point =
                FaultPoint{fault, kBothDirections[direction], at, random_() % connections}};
  }

 private:
  std::vector<Fault> faults_;
  std::mt19937_64 random_;
};

// Traffic of the sessions of a setting without faults.
struct Usual {
  Traffic preprocess, run;
};

Usual usual_of(const Setting& setting, NetworkTally& tally) {
  PartyPair pair(setting, tally, seed());
  Usual usual;
  usual.preprocess = pair.preprocess({});
  usual.run = pair.run({});
  return usual;
}

// Makes a store and runs on it, with the given number of faults in both phases together.
void run_trial(const Setting& setting, const Usual& usual, NetworkTally& tally,
               std::vector<Fault> faults, std::uint64_t faults_wanted, std::uint64_t seed) {
  PartyPair pair(setting, tally, seed);
  FaultChooser chooser(std::move(faults), seed);
  std::uint64_t injected = 0;
  const auto run_until = [&](std::uint64_t until, const auto& session) {
    for (int attempt = 0;
         attempt < kAttemptsMax && injected < until && !::testing::Test::HasFailure(); ++attempt) {
      session();
      injected += pair.is_injected();
      if (pair.are_both_done() && !pair.is_injected()) return;
    }
  };
  run_until((faults_wanted + 1) / 2,
            [&] { pair.preprocess(chooser.next(usual.preprocess, setting.connections)); });
  pair.preprocess({});
  if (::testing::Test::HasFailure()) return;
  while (injected < faults_wanted && !pair.is_short_of_material() && !::testing::Test::HasFailure())
    run_until(faults_wanted, [&] { pair.run(chooser.next(usual.run)); });
  pair.expect_consistent();
}

// Distributes the faults over trials, which use all settings in turn.
void run_trials(const std::string& title, std::vector<Fault> faults, std::uint64_t faults_wanted,
                std::uint64_t faults_per_trial, std::uint64_t at_once) {
  NetworkTally tally;
  std::vector<Usual> usual(settings().size());
  for_each_at_once(usual.size(), at_once,
                   [&](std::uint64_t i) { usual[i] = usual_of(settings()[i], tally); });
  for_each_at_once((faults_wanted + faults_per_trial - 1) / faults_per_trial, at_once,
                   [&](std::uint64_t trial) {
                     const std::size_t i = trial % usual.size();
                     run_trial(settings()[i], usual[i], tally, faults, faults_per_trial,
                               seed() * 1000003 + trial);
                   });
  tally.print(title, seed());
  // a store may run out of material before its last faults
  EXPECT_GE(tally.total_injected() + 2 * faults_per_trial, faults_wanted);
}

TEST(Network, RecoversFromCutsAndResets) {
  run_trials("cuts", {Fault::Cut, Fault::CutHalf, Fault::Reset},
             from_environment("TINYOT_CUTS", repetitions(40)), 10,
             from_environment("TINYOT_AT_ONCE", 3));
}

TEST(Network, EndsInTimeWhenConnectionStalls) {
  run_trials("stalls", {Fault::Stall, Fault::Swallow},
             from_environment("TINYOT_STALLS", repetitions(16)), 2,
             from_environment("TINYOT_AT_ONCE", 8));
}

using Session = Traffic (PartyPair::*)(const Relay::Plan&);

// Faults at every `step`-th byte of the sessions that consist of handshake and store
// synchronisation.
std::vector<std::pair<Session, FaultPoint>> faults_in_handshake(const Setting& setting,
                                                                NetworkTally& tally,
                                                                std::uint64_t step) {
  std::vector<std::pair<Session, FaultPoint>> all;
  PartyPair pair(setting, tally, seed());
  pair.preprocess({});
  for (const Session session : {&PartyPair::reserve, &PartyPair::preprocess, &PartyPair::verify}) {
    const Traffic usual = (pair.*session)({});
    for (const Direction direction : kBothDirections)
      for (const Fault fault : {Fault::Cut, Fault::Reset})
        for (std::uint64_t at = (seed() + all.size() * 7) % step;
             at <= usual[static_cast<std::size_t>(direction)]; at += step)
          all.push_back({session, {fault, direction, at}});
  }
  return all;
}

TEST(Network, RecoversFromCutsInHandshake) {
  const std::uint64_t step = from_environment("TINYOT_EVERY", 1009),
                      at_once = from_environment("TINYOT_AT_ONCE", 6);
  NetworkTally tally;
  for (const std::size_t number : {kFastTcp, kFastTls}) {
    const Setting& setting = settings()[number];
    const auto all = faults_in_handshake(setting, tally, step);
    const std::size_t of_a_couple = std::min<std::size_t>(64, all.size() / at_once + 1);
    for_each_at_once((all.size() + of_a_couple - 1) / of_a_couple, at_once,
                     [&](std::uint64_t part) {
                       PartyPair pair(setting, tally, seed() + part);
                       pair.preprocess({});
                       for (std::size_t i = part * of_a_couple;
                            i < std::min(all.size(), (part + 1) * of_a_couple); ++i)
                         (pair.*all[i].first)({.fault_point = all[i].second});
                       pair.expect_consistent();
                     });
  }
  tally.print("handshake and synchronisation", seed());
}

TEST(Network, SplitsAndDelaysChangeNothing) {
  NetworkTally tally;
  for_each_at_once(settings().size(), 2, [&](std::uint64_t number) {
    PartyPair pair(settings()[number], tally, seed());
    const auto expect_done = [&] {
      EXPECT_TRUE(pair.are_both_done()) << pair.ended().a.err << pair.ended().b.err;
    };
    pair.preprocess({.chunk_bytes_max = 1000});
    expect_done();
    for (const std::size_t most : {1u, 2u, 20u}) {
      pair.run({.chunk_bytes_max = most});
      expect_done();
    }
    pair.run({.chunk_bytes_max = 200, .delay_max = 2ms});
    expect_done();
    pair.expect_consistent();
  });
  tally.print("splits and delays", seed());
}

}  // namespace
}  // namespace tinyot::test
