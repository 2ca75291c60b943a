// The clock rate of the processor, to compare a kernel's lower bound in cycles with its measured
// time.
#pragma once

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>

namespace tinyot::bench {

// Cycles per second, from dependent additions, one per cycle. Measured once.
inline double cycles_per_second() {
  static const double rate = [] {
    constexpr std::uint64_t kRounds = 20'000'000;
    double best = 0;
    for (int repeat = 0; repeat < 3; ++repeat) {
      const auto begin = std::chrono::steady_clock::now();
      std::uint64_t sum = 1;
      for (std::uint64_t i = 0; i < kRounds; ++i) {
        sum += i;
        benchmark::DoNotOptimize(sum);
        sum += i;
        benchmark::DoNotOptimize(sum);
        sum += i;
        benchmark::DoNotOptimize(sum);
        sum += i;
        benchmark::DoNotOptimize(sum);
      }
      const double seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      best = std::max(best, 4.0 * static_cast<double>(kRounds) / seconds);
    }
    return best;
  }();
  return rate;
}

// Counts `items` per iteration and reports of_bound: the lower bound, `cycles` per item, divided by
// the measured time.
inline void report_against_bound(benchmark::State& state, double items, double cycles) {
  const double total = items * static_cast<double>(state.iterations());
  state.SetItemsProcessed(static_cast<std::int64_t>(total));
  // A rate counter is divided by the measured seconds.
  state.counters["of_bound"] =
      benchmark::Counter(total * cycles / cycles_per_second(), benchmark::Counter::kIsRate);
}

}  // namespace tinyot::bench
