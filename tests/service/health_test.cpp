#include "service/health.h"

#include <gtest/gtest.h>

namespace tinyot::service {
namespace {

using Clock = Health::Clock;
constexpr Clock::time_point kBegin{};

TEST(Health, IsThatOfTheLoop) {
  Health health(kBegin);
  EXPECT_TRUE(health.healthy(kBegin + Health::kLoopTime - std::chrono::seconds(1)).is_well);
  const Health::Answer late = health.healthy(kBegin + Health::kLoopTime);
  EXPECT_FALSE(late.is_well);
  EXPECT_EQ(late.text, "the loop has not been passed for 30 s\n");
  health.passed({}, kBegin + std::chrono::seconds(40));
  EXPECT_TRUE(health.healthy(kBegin + std::chrono::seconds(60)).is_well);
  // The loop is not passed any more while evaluations in progress end.
  health.stopping();
  EXPECT_TRUE(health.healthy(kBegin + std::chrono::hours(1)).is_well);
}

TEST(Health, IsReadyWithOnePeer) {
  Health health(kBegin);
  EXPECT_FALSE(health.ready().is_well);
  health.passed({{"bob", "not connected"}, {"carol", "not connected"}}, kBegin);
  EXPECT_FALSE(health.ready().is_well);
  health.passed({{"bob", "not connected"}, {"carol", ""}}, kBegin);
  EXPECT_TRUE(health.ready().is_well);
  EXPECT_EQ(health.ready().text, "bob: not connected\ncarol: ready\n");
  EXPECT_FALSE(health.ready("bob").is_well);
  EXPECT_TRUE(health.ready("carol").is_well);
  EXPECT_FALSE(health.ready("dora").is_well);
  health.stopping();
  EXPECT_FALSE(health.ready("carol").is_well);
}

}  // namespace
}  // namespace tinyot::service
