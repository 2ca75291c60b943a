// The account of units keeps the sum of all outstanding risks within the limit, whatever the peer
// stalls, reorders or breaks off.
#include "offline/unit/unit_account.h"

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <random>

#include "base/cause.h"
#include "base/error.h"
#include "tests/support/blocked_thread.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace std::chrono_literals;

// A log that outlives connections, like that of a store: units that were begun but neither finished
// nor withdrawn remain in it.
class Log final : public material::Sink {
 public:
  Risk outstanding() const override { return sum_; }
  void begin_unit(const material::BegunUnit& unit) override {
    open_[unit.number] = unit;
    sum_ += unit.risk;
    ++begun;
  }
  void withdraw_unit(std::uint64_t number) override {
    sum_ -= open_.at(number).risk;
    open_.erase(number);
  }
  void pour(material::Batch) override {}
  void finish_unit() override {
    if (fails) throw StoreError("the disk is full");
    plans.push_back(open_.begin()->second.plan);
    withdraw_unit(open_.begin()->first);
  }
  // The connection has ended: its units are no longer in flight but remain in the sum.
  void break_off() { open_.clear(); }

  std::vector<UnitPlan> plans;  // of finished units
  std::size_t begun = 0;
  bool fails = false;

 private:
  std::map<std::uint64_t, material::BegunUnit> open_;
  Risk sum_;
};

// Seven such units may be outstanding.
const UnitPlan kPlan{std::uint64_t{1} << 20, 3};
SecurityParameters params(std::uint32_t workers = 1) {
  return SecurityParameters::make({.profile = Profile::Fast, .workers = workers});
}

TEST(UnitAccount, CountsUnitUntilTheSinkHasIt) {
  Log log;
  const auto parameters = params();
  UnitAccount account(log, parameters);
  EXPECT_EQ(account.outstanding(), Risk{});
  const auto begun = account.begin(0, kPlan);
  ASSERT_TRUE(begun);
  EXPECT_EQ(begun->outstanding, Risk{}) << "the sum sent to the peer covers all other units";
  EXPECT_EQ(account.outstanding(), parameters.risk(kPlan));
  EXPECT_EQ(log.outstanding(), parameters.risk(kPlan)) << "the sink has the entry first";
  account.finish_unit();
  EXPECT_EQ(account.outstanding(), Risk{});
  EXPECT_EQ(log.outstanding(), Risk{});
}

TEST(UnitAccount, WithdrawnUnitsAddNoRisk) {
  Log log;
  const auto parameters = params();
  UnitAccount account(log, parameters);
  account.withdraw(*account.begin(0, kPlan));
  EXPECT_EQ(account.outstanding(), Risk{});
  EXPECT_EQ(log.outstanding(), Risk{});
}

TEST(UnitAccount, BrokenAttemptsStayOutstandingAndEnlargeTheBucket) {
  Log log;
  const auto parameters = params();
  for (int i = 0; i < 6; ++i) {
    UnitAccount account(log, parameters);
    EXPECT_EQ(account.begin(0, kPlan)->plan.bucket, 3u) << i;
    log.break_off();
  }
  // Slightly less than the risk of a seventh unit is left.
  log.begin_unit({0, {100, 5}, Risk{{0, 1, 0}} + parameters.risk({kPlan.ands, 5})});
  log.break_off();
  UnitAccount account(log, parameters);
  EXPECT_EQ(account.begin(0, kPlan)->plan.bucket, 4u);
  EXPECT_LE(account.outstanding(), parameters.risk_limit());
}

TEST(UnitAccount, FailsWhenNoBucketIsLeft) {
  Log log;
  const auto parameters = params();
  log.begin_unit({0, kPlan, parameters.risk_limit()});
  log.break_off();
  UnitAccount account(log, parameters);
  try {
    account.begin(0, kPlan);
    FAIL();
  } catch (const StoreError& error) {
    EXPECT_NE(std::string(error.what()).find("2^-40.0"), std::string::npos) << error.what();
  }
}

TEST(UnitAccount, WaitsForUnitsInFlightBeforeEnlargingTheBucket) {
  Log log;
  const auto parameters = params();
  UnitAccount account(log, parameters);
  for (std::uint64_t unit = 0; unit < 7; ++unit) ASSERT_TRUE(account.begin(unit, kPlan));
  EXPECT_FALSE(account.try_begin(7, kPlan));
  test::BlockedThread waiting([&] { EXPECT_EQ(account.begin(7, kPlan)->plan.bucket, 3u); });
  account.finish_unit();
  waiting.join();
  EXPECT_LE(account.outstanding(), parameters.risk_limit());
}

// If only a larger bucket fits, it is not used while a unit in flight may still free its risk.
TEST(UnitAccount, KeepsTheBucketWhileAUnitIsInFlight) {
  Log log;
  const auto parameters = params();
  Risk broken = parameters.risk_limit();
  broken -= parameters.risk(kPlan);
  broken -= parameters.risk({kPlan.ands, kPlan.bucket.only() + 1});
  log.begin_unit({0, kPlan, broken});
  log.break_off();
  UnitAccount account(log, parameters);
  ASSERT_EQ(account.begin(0, kPlan)->plan.bucket, kPlan.bucket);
  EXPECT_FALSE(account.try_begin(1, kPlan));
  account.finish_unit();
  EXPECT_EQ(account.try_begin(1, kPlan)->plan.bucket, kPlan.bucket);
}

TEST(UnitAccount, EntersUnitsInOrder) {
  Log log;
  const auto parameters = params();
  UnitAccount account(log, parameters);
  ASSERT_FALSE(account.try_begin(1, kPlan));
  test::BlockedThread second([&] { account.begin(1, kPlan); });
  EXPECT_EQ(log.begun, 0u);
  account.begin(0, kPlan);
  second.join();
  EXPECT_EQ(log.begun, 2u);
}

TEST(UnitAccount, LargerSumOfThePeerEnlargesTheBucket) {
  Log log;
  const auto parameters = params();
  UnitAccount account(log, parameters);
  const auto begun = account.begin(0, kPlan);
  Risk peers;
  for (int i = 0; i < 7; ++i) peers += parameters.risk(kPlan);
  EXPECT_EQ(account.settle_on(*begun, Risk{}).bucket, 3u);
  peers -= Risk{{0, 0, 2}};  // a larger bucket fits, another such unit does not
  const UnitPlan settled = account.settle_on(*begun, peers);
  EXPECT_EQ(settled.bucket, 4u);
  EXPECT_EQ(account.outstanding(), parameters.risk(settled))
      << "the entry has the plan of the unit that is made";
  account.finish_unit();
  EXPECT_EQ(log.plans.at(0).bucket, 4u);
  EXPECT_EQ(account.outstanding(), Risk{}) << "the peer's sum is not stored";
}

TEST(UnitAccount, RejectsExcessiveSumOfThePeerNamingBothSums) {
  Log log;
  const auto parameters = params();
  UnitAccount account(log, parameters);
  const auto begun = account.begin(0, kPlan);
  try {
    account.settle_on(*begun, parameters.risk_limit());
    FAIL();
  } catch (const Disagreement& error) {
    for (const char* part : {"0 here", "2^-40.0 at the peer", "bucket up to 5"})
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

// Units of bit triples take memory in proportion to the square of their bucket.
SecurityParameters wan_params() { return SecurityParameters::make({.profile = Profile::Wan}); }

std::uint64_t bytes_of(const SecurityParameters& params, const BucketSizes& bucket) {
  return params.unit_bytes({kPlan.ands, bucket});
}

// What leaves room for one unit with this bucket.
Risk rest_of(const SecurityParameters& params, const BucketSizes& bucket) {
  Risk rest = params.risk_limit();
  rest -= params.risk({kPlan.ands, bucket});
  return rest;
}

TEST(UnitAccount, SumOfThePeerDoesNotEnlargeUnitsBeyondTheirMemory) {
  const auto parameters = wan_params();
  const Risk peers = rest_of(parameters, 4);
  const std::uint64_t larger = bytes_of(parameters, 4);
  ASSERT_GT(larger, bytes_of(parameters, 3) * 3 / 2);
  Log with_room;
  UnitAccount roomy(with_room, parameters, larger);
  EXPECT_EQ(roomy.settle_on(*roomy.begin(0, kPlan), peers).bucket, 4u);
  Log log;
  UnitAccount account(log, parameters, larger - 1);
  const auto begun = account.begin(0, kPlan);
  EXPECT_EQ(account.settle_on(*begun, Risk{}).bucket, 3u) << "what was planned is not refused";
  try {
    account.settle_on(*begun, peers);
    FAIL();
  } catch (const Disagreement& error) {
    for (const char* part : {"0 here", "at the peer", "bucket 4", "bytes of memory"})
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(UnitAccount, BrokenAttemptsDoNotEnlargeUnitsBeyondTheirMemory) {
  Log log;
  const auto parameters = wan_params();
  log.begin_unit({0, kPlan, rest_of(parameters, 4)});
  log.break_off();
  const std::uint64_t larger = bytes_of(parameters, 4);
  UnitAccount small(log, parameters, larger - 1);
  EXPECT_THROW(small.begin(0, kPlan), StoreError);
  EXPECT_EQ(log.plans.size(), 0u);
  UnitAccount account(log, parameters, larger);
  EXPECT_EQ(account.begin(0, kPlan)->plan.bucket, 4u);
}

TEST(UnitAccount, SmallerSumOfThePeerHasNoEffect) {
  Log log;
  const auto parameters = params();
  for (int i = 0; i < 6; ++i) {
    UnitAccount(log, parameters).begin(0, kPlan);
    log.break_off();
  }
  log.begin_unit({0, {100, 5}, Risk{{0, 1, 0}}});
  log.break_off();
  UnitAccount account(log, parameters);
  const auto begun = account.begin(0, kPlan);
  EXPECT_EQ(account.settle_on(*begun, Risk{}).bucket, 4u);
}

TEST(UnitAccount, FailureOfTheSinkEndsWaitingUnits) {
  Log log;
  const auto parameters = params();
  UnitAccount account(log, parameters);
  for (std::uint64_t unit = 0; unit < 7; ++unit) account.begin(unit, kPlan);
  test::BlockedThread waiting([&] { EXPECT_THROW(account.begin(7, kPlan), StoreError); });
  log.fails = true;
  EXPECT_THROW(account.finish_unit(), StoreError);
  waiting.join();
}

TEST(UnitAccount, StopAndEndWakeWaitingCalls) {
  Log log;
  const auto parameters = params();
  {
    UnitAccount account(log, parameters);
    test::BlockedThread waiting([&] { EXPECT_THROW(account.begin(1, kPlan), WorkerStopped); });
    account.stop();
  }
  UnitAccount account(log, parameters);
  test::BlockedThread waiting([&] { EXPECT_FALSE(account.begin(1, kPlan)); });
  account.end_before(1);
}

TEST(UnitAccount, SinkReceivesNothingAfterAFailedCheck) {
  Log log;
  const auto parameters = params();
  UnitAccount account(log, parameters);
  account.begin(0, kPlan);
  account.revoke();
  EXPECT_THROW(account.pour(material::Batch()), WorkerStopped);
  EXPECT_THROW(account.finish_unit(), WorkerStopped);
  EXPECT_TRUE(log.plans.empty());
  EXPECT_EQ(log.outstanding(), parameters.risk(kPlan));
}

// A cheater with several workers decides at random which unit is made next, which is stalled, and
// when the connection ends. The outstanding risk never exceeds the limit, and at the end all broken
// attempts are still counted.
TEST(UnitAccount, KeepsTheLimitWhenThePeerStallsReordersAndDisconnects) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Log log;
    const auto parameters = params(4);
    std::mt19937_64 rng(seed);
    Risk broken;
    for (int connection = 0; connection < 12; ++connection) {
      UnitAccount account(log, parameters);
      std::deque<UnitAccount::Begun> in_flight;
      std::uint64_t next = 0;
      for (int step = 0; step < 40; ++step) {
        const auto choice = rng() % 8;
        if (choice < 4) {
          if (const auto begun = account.try_begin(next, {std::uint64_t{1} << 20, 3})) {
            in_flight.push_back(*begun);
            ++next;
          }
        } else if (choice < 7 && !in_flight.empty()) {
          account.finish_unit();  // one at a time
          in_flight.pop_front();
        }
        ASSERT_LE(account.outstanding(), parameters.risk_limit());
        ASSERT_EQ(account.outstanding(), log.outstanding());
      }
      for (const auto& begun : in_flight) broken += parameters.risk(begun.plan);
      log.break_off();
      ASSERT_EQ(log.outstanding(), broken);
    }
    EXPECT_LE(broken, parameters.risk_limit());
    EXPECT_GT(broken, Risk{});
  }
}

}  // namespace
}  // namespace tinyot
