// What is planned and estimated of a preprocessing job before it begins: workers that wait for
// messages, and the inputs of each unit.
#include "engine/estimate.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "offline/triples/layer_pool.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

using namespace std::chrono_literals;

std::size_t waiting(std::uint64_t unit, std::uint64_t threads, std::uint64_t units = 16,
                    Profile profile = Profile::Fast, std::chrono::nanoseconds latency = 10ms) {
  const auto params = SecurityParameters::make({.profile = profile, .unit = unit});
  return waiting_workers(params, units * unit, threads, latency);
}

TEST(WaitingWorkers, AreTwoWhereMessagesTakeLong) {
  EXPECT_EQ(waiting(1 << 12, 1), 2u);
  EXPECT_EQ(waiting(1 << 12, 3), 2u);
  EXPECT_EQ(waiting(1 << 12, 1, 16, Profile::Fast, 1ms), 0u);
  EXPECT_EQ(waiting(1 << 12, 1, 16, Profile::Nnob12), 0u) << "without layers that can wait";
}

TEST(WaitingWorkers, HaveUnitsToMake) {
  EXPECT_EQ(waiting(1 << 12, 1, 1), 0u);
  EXPECT_EQ(waiting(1 << 12, 1, 2), 1u);
  EXPECT_EQ(waiting(1 << 12, 2, 3), 1u);
  EXPECT_EQ(waiting(1 << 12, 4, 3), 0u);
}

// A layer of 2^20 triples takes 97 MiB. One thread takes layers in order, several ones in any
// order, so that they need all of their units' layers.
TEST(WaitingWorkers, KeepWithinTheMemoryOfLayers) {
  EXPECT_EQ(waiting(1 << 20, 1), 2u);
  EXPECT_EQ(waiting(1 << 20, 2), 0u);
  EXPECT_EQ(waiting(1 << 19, 2), 1u);
  EXPECT_EQ(waiting(1 << 17, 2), 2u);
  for (std::uint64_t unit = 1 << 10; unit <= 1 << 20; unit *= 2)
    for (const std::uint64_t threads : {1, 2, 4}) {
      const auto params = SecurityParameters::make({.profile = Profile::Fast, .unit = unit});
      const UnitPlan plan = params.plan(unit).front();
      const std::uint64_t layers = threads == 1 ? 1 : params.entry().leaky_per_and(plan.bucket);
      EXPECT_LE(waiting(unit, threads) * layers * params.entry().layer_bytes(params, plan.ands),
                kWaitingLayersBytes)
          << unit << ", " << threads;
    }
}

// Rounded shares, and products that have more than 64 bits.
TEST(InputsOfUnits, AreThoseOfTheJobTogether) {
  for (const std::uint64_t inputs :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1000}, (std::uint64_t{1} << 40) + 7})
    for (const std::uint64_t ands : {std::uint64_t{1000}, (std::uint64_t{1} << 38) + 5}) {
      const std::uint64_t unit = ands / 7;
      std::uint64_t sum = 0;
      for (std::uint64_t first = 0; first < ands; first += unit) {
        const std::uint64_t count = std::min(unit, ands - first);
        const std::uint64_t share = inputs_of_unit(inputs, ands, first, count);
        EXPECT_NEAR(
            static_cast<double>(share),
            static_cast<double>(inputs) * static_cast<double>(count) / static_cast<double>(ands),
            1);
        sum += share;
      }
      EXPECT_EQ(sum, inputs) << ands;
    }
}

}  // namespace
}  // namespace tinyot::test
