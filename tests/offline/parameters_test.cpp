// Security parameters: the tables of doc/protocol.md, the exact bounds against enumeration,
// rejected requests. Bounds of layers: layers_bound_test.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "base/error.h"
#include "offline/nnob12/columns.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

// `used` leaves room for one unit in flight and three broken-off ones.
struct BucketRow {
  int log2_l;
  std::uint32_t sigma, exact, paper, used;
};

class BucketTable : public testing::TestWithParam<BucketRow> {};

TEST_P(BucketTable, Holds) {
  const auto [log2_l, sigma, exact, paper, used] = GetParam();
  const std::uint64_t l = std::uint64_t{1} << log2_l;
  const auto params = offline::SecurityParameters::make({.sigma = sigma, .unit = l});
  EXPECT_EQ(params.bucket(), used);
  EXPECT_GE(params.units_outstanding_max({l, used}), 4);
  if (used > paper) {
    EXPECT_LT(params.units_outstanding_max({l, used - 1}), 4);
  }
  EXPECT_GE(paper_bound_bits(l, paper), sigma);
  EXPECT_LT(paper_bound_bits(l, paper - 1), sigma);
  EXPECT_GE(exact_bound_bits(l, exact), sigma);
  EXPECT_LT(exact_bound_bits(l, exact - 1), sigma);
}

INSTANTIATE_TEST_SUITE_P(Protocol, BucketTable,
                         testing::Values(BucketRow{10, 40, 5, 5, 5}, BucketRow{12, 40, 4, 5, 5},
                                         BucketRow{15, 40, 4, 4, 4}, BucketRow{18, 40, 4, 4, 4},
                                         BucketRow{19, 40, 3, 3, 4}, BucketRow{20, 40, 3, 3, 3},
                                         BucketRow{10, 64, 7, 7, 7}, BucketRow{15, 64, 5, 5, 5},
                                         BucketRow{20, 64, 4, 5, 5}));

TEST(SecurityParameters, MoreWorkersAndShardsLeaveRoomForMoreUnits) {
  for (const std::uint32_t workers : {1u, 4u, 64u})
    for (const std::uint32_t shards : {1u, 8u, 1u << 16}) {
      const ParameterRequest request{
          .profile = Profile::Fast, .workers = workers, .shards = shards};
      const auto params = offline::SecurityParameters::make(request);
      EXPECT_GE(params.units_outstanding_max({params.unit(), params.bucket()}), workers + 3)
          << workers << ' ' << shards;
    }
  EXPECT_EQ(offline::SecurityParameters::make({.profile = Profile::Fast, .workers = 4}).bucket(),
            3u);
  EXPECT_EQ(offline::SecurityParameters::make({.profile = Profile::Fast, .workers = 5}).bucket(),
            4u);
}

TEST(SecurityParameters, WithoutSpareUnitsABucketLeavesRoomForThoseInFlightAlone) {
  for (const std::uint32_t workers : {1u, 2u, 8u}) {
    const ParameterRequest request{.profile = Profile::Fast, .unit = 1 << 19, .workers = workers};
    const auto params = offline::SecurityParameters::make_without_spare(request);
    EXPECT_EQ(params.bucket(), workers == 1 ? 3u : 4u);
    EXPECT_GE(params.bound_bits(params.unit(), params.bucket()), 40);
    EXPECT_GE(params.units_outstanding_max({params.unit(), params.bucket()}), workers);
    for (const UnitPlan& unit : params.plan((1 << 20) + 1000)) {
      EXPECT_GE(params.bound_bits(unit.ands, unit.bucket), 40);
      EXPECT_GE(params.units_outstanding_max(unit), workers);
    }
  }
}

TEST(SecurityParameters, RequestedBucketNeedsRoomForOneUnitOnly) {
  EXPECT_EQ(offline::SecurityParameters::make({.unit = 1 << 19, .bucket = 3}).bucket(), 3u);
  EXPECT_THROW(offline::SecurityParameters::make({.unit = 1 << 18, .bucket = 3}), UsageError);
}

TEST(ExactBound, HasTheKnownThresholds) {
  for (const auto& [l, bucket] : {std::pair{320u, 5u}, {3100u, 4u}, {280000u, 3u}}) {
    EXPECT_NEAR(exact_bound_bits(l, bucket), 40, 0.15) << l;
  }
}

// Expected number of wholly attacked buckets over all permutations, if objects 0..t-1 are attacked.
double owned_buckets(std::size_t l, std::size_t bucket, std::size_t t) {
  std::vector<std::size_t> order(l * bucket);
  std::iota(order.begin(), order.end(), 0u);
  double owned = 0, permutations = 0;
  do {
    ++permutations;
    for (std::size_t j = 0; j < l; ++j)
      owned += std::all_of(order.begin() + static_cast<long>(j * bucket),
                           order.begin() + static_cast<long>((j + 1) * bucket),
                           [&](std::size_t object) { return object < t; });
  } while (std::next_permutation(order.begin(), order.end()));
  return owned / permutations;
}

TEST(ExactBound, EqualsTheBestAttackByEnumeration) {
  for (const auto& [l, bucket] : {std::pair<std::size_t, std::size_t>{1, 2},
                                  {2, 2},
                                  {3, 2},
                                  {4, 2},
                                  {1, 3},
                                  {2, 3},
                                  {3, 3},
                                  {2, 4}}) {
    double best = 0;
    for (std::size_t t = 0; t <= l * bucket; ++t)
      best = std::max(best, std::exp2(-static_cast<double>(t)) * owned_buckets(l, bucket, t));
    EXPECT_NEAR(exact_bound_bits(l, static_cast<std::uint32_t>(bucket)), -std::log2(best), 1e-9)
        << "l = " << l << ", B = " << bucket;
  }
}

TEST(ExactBound, IsNeverBelowThePaperBound) {
  for (std::uint64_t l = 1; l <= (std::uint64_t{1} << 24); l *= 2)
    for (std::uint32_t bucket = 2; bucket < 12; ++bucket)
      EXPECT_GE(exact_bound_bits(l, bucket) + 1e-6, paper_bound_bits(l, bucket)) << l;
}

TEST(SecurityParameters, ColumnsFollowFromPsi) {
  const auto theorem = offline::SecurityParameters::make({});
  EXPECT_EQ(columns_kept(theorem), 939u);
  EXPECT_EQ(columns_made(theorem), 1878u);
  EXPECT_GE(3 * columns_kept(theorem), 22u * 128);
  const auto experiment =
      offline::SecurityParameters::make({.own = Nnob12Parameters{Columns::Experiment}});
  EXPECT_EQ(columns_kept(experiment), 342u);
  EXPECT_EQ(columns_made(experiment), 684u);
  EXPECT_GE(3 * columns_kept(experiment), 8u * 128);
}

TEST(SecurityParameters, PlanCoversTheAndsAndTheLastUnitReachesSigma) {
  for (const std::uint64_t unit : {1ull, 2ull, 1000ull, 1ull << 18}) {
    for (const std::uint32_t sigma : {40u, 64u, 128u}) {
      const auto params = offline::SecurityParameters::make({.sigma = sigma, .unit = unit});
      for (const std::uint64_t ands : {std::uint64_t{0}, std::uint64_t{1}, unit - 1, unit, unit + 1,
                                       3 * unit, 3 * unit + unit / 2}) {
        std::uint64_t total = 0;
        for (const UnitPlan& plan : params.plan(ands)) {
          total += plan.ands;
          EXPECT_GT(plan.ands, 0u);
          EXPECT_LE(plan.ands, unit);
          EXPECT_GE(paper_bound_bits(plan.ands, plan.bucket.only()), sigma);
          EXPECT_GE(plan.bucket, params.bucket());
        }
        EXPECT_EQ(total, ands);
        EXPECT_EQ(params.plan(ands).size(), (ands + unit - 1) / unit);
      }
    }
  }
}

TEST(SecurityParameters, SmallLastUnitHasItsOwnLargerBucket) {
  const auto params = offline::SecurityParameters::make({.unit = 1 << 18});
  const auto units = params.plan((1 << 18) + 1);
  ASSERT_EQ(units.size(), 2u);
  EXPECT_EQ(units[0].bucket, 4u);
  EXPECT_EQ(units[1].ands, 1u);
  EXPECT_EQ(units[1].bucket, 43u);
}

std::string error_of(const ParameterRequest& request) {
  try {
    offline::SecurityParameters::make(request);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

void expect_error(const ParameterRequest& request, const std::vector<std::string>& parts,
                  Remedy remedy = Remedy::None) {
  try {
    offline::SecurityParameters::make(request);
    ADD_FAILURE() << "no error with " << parts[0];
  } catch (const UsageError& error) {
    const std::string message = error.what();
    for (const std::string& part : parts)
      EXPECT_NE(message.find(part), std::string::npos)
          << "'" << part << "' not in '" << message << "'";
    EXPECT_EQ(error.remedy(), remedy) << message;
  }
}

TEST(SecurityParameters, ErrorsNameParameterValueAndRange) {
  expect_error({.sigma = 39}, {"sigma 39", "40 to 128"});
  expect_error({.sigma = 129}, {"sigma 129", "40 to 128"});
  expect_error({.unit = 0}, {"unit 0", "1 to 2^24"});
  expect_error({.unit = (1 << 24) + 1}, {"unit 16777217", "1 to 2^24"});
  expect_error({.bucket = 1}, {"bucket 1", "2 to 160"});
  expect_error({.bucket = 0, .weak_allowed = true}, {"bucket 0", "2 to 160"});
  expect_error({.bucket = 161}, {"bucket 161", "2 to 160"});
  EXPECT_EQ(error_of({.sigma = 128, .unit = 1}), "");
  EXPECT_EQ(error_of({.unit = 1 << 24}), "");
}

TEST(SecurityParameters, RejectsTooSmallBucketWithBothFigures) {
  // l = 2^12, B = 4: 39 bits by the paper's bound, about 40.3 exactly.
  char exact[16];
  std::snprintf(exact, sizeof exact, "%.1f", exact_bound_bits(4096, 4));
  expect_error({.unit = 4096, .bucket = 4},
               {"a bucket of 4", "4096", "39.0 bits", std::string("exact: ") + exact, "sigma = 40",
                "a bucket of 5 or more"},
               Remedy::AllowWeakParameters);
  const auto weak =
      offline::SecurityParameters::make({.unit = 4096, .bucket = 4, .weak_allowed = true});
  EXPECT_EQ(weak.bucket(), 4u);
  EXPECT_EQ(weak.plan(5000).back().bucket, 4u);
  EXPECT_EQ(offline::SecurityParameters::make({.unit = 4096, .bucket = 9}).bucket(), 9u);
}

ParameterRequest fast() { return {.profile = Profile::Fast}; }

TEST(FastParameters, DefaultsAreLargeUnitsOfTriples) {
  const auto params = offline::SecurityParameters::make(fast());
  EXPECT_EQ(params.unit(), 1u << 20);
  EXPECT_EQ(params.bucket(), 3u);
  EXPECT_EQ(params.material(), AndMaterial::Triples);
  EXPECT_EQ(params.own<FastParameters>(), FastParameters{});
  EXPECT_TRUE(params.are_open());
  const auto nnob12 = offline::SecurityParameters::make({});
  EXPECT_EQ(nnob12.unit(), 1u << 18);
  EXPECT_EQ(nnob12.material(), AndMaterial::AandAot);
}

TEST(FastParameters, PopulationIsWholeBlocks) {
  const auto params = offline::SecurityParameters::make(fast());
  for (const auto& [ands, population] :
       {std::pair{1u, 128u}, {127u, 128u}, {128u, 128u}, {129u, 256u}, {1u << 20, 1u << 20}})
    EXPECT_EQ(params.population(ands), population);
  EXPECT_EQ(offline::SecurityParameters::make({}).population(129), 129u);
  // A unit of one AND has 128 triples, which determine the bucket.
  EXPECT_EQ(params.smallest_bucket(1), params.smallest_bucket(128));
  EXPECT_EQ(params.bound_bits(1, 6), paper_bound_bits(128, 6));
}

TEST(FastParameters, EveryUnitOfAPlanReachesSigmaByBothBounds) {
  for (const std::uint32_t sigma : {40u, 64u, 128u}) {
    const auto params =
        offline::SecurityParameters::make({.profile = Profile::Fast, .sigma = sigma, .unit = 5000});
    std::uint64_t total = 0;
    for (const UnitPlan& plan : params.plan(12345)) {
      total += plan.ands;
      EXPECT_GE(params.bound_bits(plan.ands, plan.bucket), sigma);
      EXPECT_GE(params.exact_bits(plan.ands, plan.bucket), sigma);
      EXPECT_EQ(params.exact_bits(plan.ands, plan.bucket),
                layers_bound_bits(params.population(plan.ands), plan.bucket.only()));
    }
    EXPECT_EQ(total, 12345u);
  }
}

TEST(FastParameters, RejectsUnsupportedOptions) {
  expect_error({.profile = Profile::Fast, .material = AndMaterial::AandAot},
               {"fast profile", "triples or garbling"});
  EXPECT_EQ(error_of({.profile = Profile::Fast, .material = AndMaterial::Triples}), "");
  for (const std::uint32_t k : {0u, 3u, 5u, 8u})
    expect_error({.profile = Profile::Fast, .own = FastParameters{.softspoken_k = k}},
                 {"softspoken-k " + std::to_string(k), "1, 2 or 4"});
  for (const std::uint32_t k : {1u, 2u, 4u})
    EXPECT_EQ(error_of({.profile = Profile::Fast, .own = FastParameters{.softspoken_k = k}}), "");
}

TEST(FastParameters, LeaveTheDepthOfTreesToTheLink) {
  const auto fitted = [](const FastParameters& own, double bits_per_s) {
    const auto open = SecurityParameters::make({.profile = Profile::Fast, .own = own});
    EXPECT_EQ(open.are_open(), !own.softspoken_k && own.abits == BitsFrom::SoftSpoken);
    const SecurityParameters closed = open.fitted_to(bits_per_s);
    EXPECT_FALSE(closed.are_open());
    FastParameters but_k = closed.own<FastParameters>();
    but_k.softspoken_k = own.softspoken_k;
    EXPECT_EQ(but_k, own);
    return *closed.own<FastParameters>().softspoken_k;
  };
  EXPECT_EQ(fitted({}, 1e8), 4u);
  EXPECT_EQ(fitted({}, 1e9), 4u);
  EXPECT_EQ(fitted({}, 1e10), 2u);
  EXPECT_EQ(fitted({.abits = BitsFrom::Silent}, 1e8), 2u);
  for (const std::uint32_t k : {1u, 2u, 4u})
    for (const double bits_per_s : {1e8, 1e10})
      EXPECT_EQ(fitted({.softspoken_k = k}, bits_per_s), k);
  for (const Profile profile : {Profile::Nnob12, Profile::Wan}) {
    const auto params = SecurityParameters::make({.profile = profile});
    EXPECT_FALSE(params.are_open());
    EXPECT_EQ(params.fitted_to(1e8).own(), params.own());
  }
}

TEST(SecurityParameters, LimitUnitsOutstanding) {
  // At most 7 units of 2^20 triples in buckets of 3 may be outstanding, 28 of 2^21, and with nnob12
  // more than 10^5 units of 2^18 in buckets of 4.
  const auto fast = SecurityParameters::make({.profile = Profile::Fast}),
             nnob12 = SecurityParameters::make({});
  EXPECT_EQ(fast.units_outstanding_max({1 << 20, 3}), 7);
  EXPECT_EQ(fast.units_outstanding_max({1 << 21, 3}), 28);
  EXPECT_GT(nnob12.units_outstanding_max({1 << 18, 4}), 1e5);
}

}  // namespace
}  // namespace tinyot
