// When a share is destroyed after the peer's, whatever the machine's clock does.
#include "service/destroy_after.h"

#include <gtest/gtest.h>

namespace tinyot::test {
namespace {

using service::DestroyAfter;
using std::chrono::hours;
using std::chrono::seconds;
using DueKeys = std::vector<custody::KeyId>;

const DestroyAfter::System::time_point kDaemonStart(hours(24 * 365 * 55));
const DestroyAfter::Steady::time_point kSteadyStart(hours(1000));
constexpr auto kWait = hours(24 * 30);

custody::KeyId numbered(std::uint8_t number) {
  custody::KeyId id;
  id.bytes[0] = std::byte{number};
  return id;
}

DestroyAfter after_of(std::chrono::seconds time = kWait) {
  return {time, kDaemonStart, kSteadyStart};
}

TEST(DestroyAfter, IsDueOnceTheTimeSinceItWasSeenIsOver) {
  DestroyAfter after = after_of();
  EXPECT_EQ(after.at(kDaemonStart), kDaemonStart + kWait);
  after.note(numbered(1), kDaemonStart + hours(5), kSteadyStart + hours(5));
  after.note(numbered(1), kDaemonStart + hours(9), kSteadyStart + hours(9));  // was seen before
  EXPECT_EQ(after.due(kSteadyStart + hours(5) + kWait - seconds(1)), DueKeys());
  EXPECT_EQ(after.due(kSteadyStart + hours(5) + kWait), DueKeys{numbered(1)});
  // Again after a while, unless it is done.
  EXPECT_EQ(after.due(kSteadyStart + hours(5) + kWait + seconds(59)), DueKeys());
  EXPECT_EQ(after.due(kSteadyStart + hours(5) + kWait + seconds(60)), DueKeys{numbered(1)});
  after.forget(numbered(1));
  EXPECT_EQ(after.due(kSteadyStart + hours(5) + 2 * kWait), DueKeys());
}

TEST(DestroyAfter, TimeBeforeTheStartCounts) {
  DestroyAfter after = after_of();
  after.note(numbered(1), kDaemonStart - kWait + hours(48), kSteadyStart);
  EXPECT_EQ(after.due(kSteadyStart + hours(48) - seconds(1)), DueKeys());
  EXPECT_EQ(after.due(kSteadyStart + hours(48)), DueKeys{numbered(1)});
}

// The clock may be wrong as the daemon starts, or as the peer's destruction was seen.
TEST(DestroyAfter, ADayIsLeftWhateverTheClockSays) {
  DestroyAfter after = after_of();
  after.note(numbered(1), DestroyAfter::System::time_point(), kSteadyStart);
  EXPECT_EQ(after.due(kSteadyStart + hours(24) - seconds(1)), DueKeys());
  EXPECT_EQ(after.due(kSteadyStart + hours(24)), DueKeys{numbered(1)});
  DestroyAfter soon = after_of(seconds(2));
  soon.note(numbered(1), DestroyAfter::System::time_point(), kSteadyStart);
  EXPECT_EQ(soon.due(kSteadyStart + seconds(1)), DueKeys());
  EXPECT_EQ(soon.due(kSteadyStart + seconds(2)), DueKeys{numbered(1)});
}

TEST(DestroyAfter, NeverWithoutATime) {
  DestroyAfter after = after_of(seconds(0));
  after.note(numbered(1), DestroyAfter::System::time_point(), kSteadyStart);
  EXPECT_EQ(after.at(kDaemonStart), std::nullopt);
  EXPECT_EQ(after.due(kSteadyStart + 100 * kWait), DueKeys());
}

}  // namespace
}  // namespace tinyot::test
