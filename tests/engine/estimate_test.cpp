// What is planned and estimated of a preprocessing job before it begins: workers that wait for
// messages, and the inputs of each unit.
#include "engine/estimate.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/memory.h"
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

// The last unit of a job is smaller than others, and may have another bucket.
TEST(EstimatedSecurity, IsThatOfTheWeakestUnit) {
  int jobs_with_strong_end = 0;
  for (const Profile profile : {Profile::Nnob12, Profile::Fast})
    for (std::uint64_t unit = 1 << 12; unit <= 1 << 18; unit *= 4)
      for (const std::uint64_t rest : {unit / 8, unit - 1}) {
        const auto params = SecurityParameters::make({.profile = profile, .unit = unit});
        double exact = 1000, bound = 1000;
        const auto plans = params.plan(3 * unit + rest);
        for (const UnitPlan& plan : plans) {
          exact = std::min(exact, params.exact_bits(plan.ands, plan.bucket));
          bound = std::min(bound, params.bound_bits(plan.ands, plan.bucket));
        }
        const UnitPlan& last = plans.back();
        jobs_with_strong_end += params.exact_bits(last.ands, last.bucket) > exact &&
                                params.bound_bits(last.ands, last.bucket) > bound;
        const Estimate job = estimate_job(params, 3 * unit + rest, 0, 1);
        EXPECT_EQ(job.sigma_exact, exact) << unit;
        EXPECT_EQ(job.sigma_paper_bound, bound) << unit;
      }
  EXPECT_GT(jobs_with_strong_end, 0);
}

// What a job's memory leaves beyond its units is for larger buckets of all workers' units.
TEST(MemoryOfUnits, IsSharedByTheWorkers) {
  const auto params = SecurityParameters::make({.profile = Profile::Fast, .unit = 1 << 14});
  const std::uint64_t of_unit = params.unit_bytes({params.unit(), params.bucket()});
  constexpr std::uint64_t kMore = 300'000'000;
  for (const std::uint64_t workers : {1, 2, 3}) {
    const std::uint64_t ands = params.unit() * workers,
                        planned =
                            estimate_job(params, ands, default_inputs(ands), workers).memory_bytes;
    EXPECT_EQ(unit_bytes_max(params, workers, planned + kMore), of_unit + kMore / workers);
    EXPECT_EQ(unit_bytes_max(params, workers, planned / 2), of_unit) << "a unit as planned";
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
