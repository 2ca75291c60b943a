#include "bench/offline/stage.h"

#include <malloc.h>

#include "base/error.h"
#include "bench/offline/kernel_seconds.h"
#include "system/clock.h"
#include "tests/support/two_parties.h"

namespace tinyot::bench {
namespace {

constexpr std::uint64_t kSeed = 1;  // of both parties' randomness and of the global keys
constexpr std::size_t kColumnsMax = 8;
constexpr MessageTag kCosts{0x7F03, "bench.costs"};

// A memory stream allocates each message and frees it on the other thread. The allocator keeps
// freed memory: otherwise it would return the pages of such messages to the system and request them
// again, with a frequency that varies between processes.
void keep_freed_memory() {
  (void)mallopt(M_MMAP_THRESHOLD, 32 << 20);
  (void)mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

// Seconds of a repetition: the total first, then its phases.
struct Costs {
  std::vector<std::string> names;
  std::vector<double> seconds;
  double bytes_sent = 0;
};

Costs measured_repetition(StageParty& party, Session& whole, std::uint64_t number) {
  Channel& channel = whole.channel();
  const std::uint64_t bytes = channel.counters().bytes_sent;
  PhaseLog log;
  Session part(whole, crypto::Phase::unregistered("stage"), number, channel, log);
  const double begin = system::thread_cpu_seconds();
  party.repeat(part);
  Costs costs{{"all"},
              {system::thread_cpu_seconds() - begin},
              static_cast<double>(channel.counters().bytes_sent - bytes)};
  for (const PhaseCost& phase : log.phases()) {
    costs.names.push_back(phase.name);
    costs.seconds.push_back(phase.cpu_s);
  }
  return costs;
}

// Party A runs the state's loop and adds up; B sends it the costs after each repetition.
class Repetitions {
 public:
  Repetitions(benchmark::State& state, MeasuredCost& sum) : state_(state), sum_(sum) {}

  void run(Session& whole, StageParty& party) {
    std::uint64_t number = 0;
    measured_repetition(party, whole, number++);
    if (whole.me() == Party::A) {
      for (auto _ : state_) add(whole.channel(), measured_repetition(party, whole, number++));
    } else {
      for (benchmark::IterationCount i = 0; i < state_.max_iterations; ++i) {
        const Costs costs = measured_repetition(party, whole, number++);
        send_words(whole.channel(), kCosts, std::span(costs.seconds));
      }
    }
  }

 private:
  void add(Channel& channel, const Costs& mine) {
    std::vector<double> peers(mine.seconds.size());
    recv_words(channel, kCosts, std::span(peers));
    sum_.phases.resize(mine.seconds.size() - 1);
    for (std::size_t i = 1; i < peers.size(); ++i) {
      sum_.phases[i - 1].first = mine.names[i];
      sum_.phases[i - 1].second += (mine.seconds[i] + peers[i]) / 2;
    }
    const double seconds = (mine.seconds[0] + peers[0]) / 2;
    sum_.seconds += seconds;
    sum_.bytes_sent += mine.bytes_sent;
    state_.SetIterationTime(seconds);
  }

  benchmark::State& state_;
  MeasuredCost& sum_;
};

// "aBits: check" is the counter check_ns.
std::string counter_name(const std::string& phase) {
  const std::size_t colon = phase.find(": ");
  return (colon == std::string::npos ? phase : phase.substr(colon + 2)) + "_ns";
}

}  // namespace

MeasuredCost measure_stage(benchmark::State& state, const MakeParty& make_party) {
  keep_freed_memory();
  MeasuredCost cost;
  Repetitions repetitions(state, cost);
  const test::Outcomes outcomes = test::run_sessions(
      [&](Session& whole) {
        const std::unique_ptr<StageParty> party = make_party(whole);
        repetitions.run(whole, *party);
      },
      {.seed = kSeed}, false);
  for (const test::Outcome& outcome : {outcomes.a, outcomes.b})
    if (outcome.kind != test::Outcome::Kind::Done && !state.error_occurred())
      state.SkipWithError(outcome.message.c_str());
  const double count = static_cast<double>(state.max_iterations);
  cost.seconds /= count;
  cost.bytes_sent /= count;
  for (auto& [name, seconds] : cost.phases) seconds /= count;
  return cost;
}

void report(benchmark::State& state, const MeasuredCost& cost, std::size_t items,
            const StageBounds& bounds) {
  if (state.error_occurred()) return;
  const double count = static_cast<double>(items), seconds = cost.seconds / count,
               bytes = cost.bytes_sent / count;
  state.counters["ns_per_item"] = 1e9 * seconds;
  state.counters["bytes_per_item"] = bytes;
  state.counters["stream_ns"] = 1e9 * bytes * stream_seconds();
  state.counters["of_bound"] = bounds.bound / seconds;
  state.counters["of_kernels"] = bounds.kernels / seconds;
  if (cost.phases.size() < 2) return;
  for (const auto& [name, phase_seconds] : cost.phases)
    state.counters[counter_name(name)] = 1e9 * phase_seconds / count;
}

test::Dealt dealt(const Session& whole, Party owner, std::size_t column, std::size_t count) {
  ENSURE(column < kColumnsMax);
  return test::Dealt(whole.me(), owner, count, kSeed,
                     kColumnsMax * static_cast<std::uint64_t>(owner) + column);
}

}  // namespace tinyot::bench
