// The speed of this processor's clock, so that a kernel's floor, counted in cycles, can stand
// beside its measured time.
#pragma once

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>

namespace tinyot::bench {

// Cycles a second, from additions that wait for each other, one a cycle. Measured once.
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

// Counts `items` an iteration and prints of_floor, the ratio of the floor, `cycles` an item, to
// what was measured.
inline void report_against_floor(benchmark::State& state, double items, double cycles) {
  const double total = items * static_cast<double>(state.iterations());
  state.SetItemsProcessed(static_cast<std::int64_t>(total));
  // A rate counter is divided by the seconds that were measured.
  state.counters["of_floor"] =
      benchmark::Counter(total * cycles / cycles_per_second(), benchmark::Counter::kIsRate);
}

}  // namespace tinyot::bench
