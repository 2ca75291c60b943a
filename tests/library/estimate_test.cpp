// Estimates of preprocessing jobs.
#include <gtest/gtest.h>
#include <tinyot/error.h>
#include <tinyot/estimate.h>

#include <algorithm>

#include "tests/support/two_threads.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

TEST(EstimateOfJob, AgreesWithJob) {
  const ParameterRequest parameters{.profile = Profile::Fast, .unit = 4096};
  const Estimate estimated = estimate(parameters, 8192, 512);
  EXPECT_EQ(estimated.units, 2u);
  EXPECT_EQ(estimated.unit, 4096u);
  EXPECT_GE(estimated.sigma_paper_bound, 40);
  EXPECT_GT(estimated.memory_bytes, 0u);

  const TestDirectory directory;
  const Endpoints endpoints;
  PreprocessResult made;
  both([&](Party party) {
    const PreprocessResult result = preprocess({.party = party,
                                                .endpoint = endpoints.of(party),
                                                .store = directory / std::string(1, letter(party)),
                                                .parameters = parameters,
                                                .ands = 8192,
                                                .inputs = 512});
    if (party == Party::A) made = result;
  });
  EXPECT_EQ(made.store.security.bucket, estimated.bucket);
  EXPECT_EQ(made.store.units_made, estimated.units);
  EXPECT_DOUBLE_EQ(made.store.security.sigma_exact, estimated.sigma_exact);
  std::uint64_t sent = 0;
  for (const PhaseCost& phase : made.phases) sent += phase.bytes_sent;
  const double error = static_cast<double>(sent) / static_cast<double>(estimated.bytes_sent) - 1;
  EXPECT_LT(std::abs(error), 0.05) << sent << " and " << estimated.bytes_sent;
}

TEST(EstimateOfJob, RefusesWeakParameters) {
  EXPECT_THROW(estimate({.sigma = 40, .unit = 64, .bucket = 2}, 64), UsageError);
}

}  // namespace
}  // namespace tinyot
