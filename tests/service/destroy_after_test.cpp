// When a share is destroyed after the peer's, whatever the machine's clock does.
#include "service/destroy_after.h"

#include <gtest/gtest.h>

namespace tinyot::test {
namespace {

using service::DestroyAfter;
using std::chrono::hours;
using std::chrono::seconds;
using Keys = std::vector<custody::KeyId>;

const DestroyAfter::System::time_point kStart(hours(24 * 365 * 55));
const DestroyAfter::Steady::time_point kSteady(hours(1000));
constexpr auto kTime = hours(24 * 30);

custody::KeyId key(std::uint8_t number) {
  custody::KeyId id;
  id.bytes[0] = std::byte{number};
  return id;
}

DestroyAfter of(std::chrono::seconds time = kTime) { return {time, kStart, kSteady}; }

TEST(DestroyAfter, IsDueOnceTheTimeSinceItWasSeenIsOver) {
  DestroyAfter after = of();
  EXPECT_EQ(after.at(kStart), kStart + kTime);
  after.note(key(1), kStart + hours(5), kSteady + hours(5));
  after.note(key(1), kStart + hours(9), kSteady + hours(9));  // was seen before
  EXPECT_EQ(after.due(kSteady + hours(5) + kTime - seconds(1)), Keys());
  EXPECT_EQ(after.due(kSteady + hours(5) + kTime), Keys{key(1)});
  // Again after a while, unless it is done.
  EXPECT_EQ(after.due(kSteady + hours(5) + kTime + seconds(59)), Keys());
  EXPECT_EQ(after.due(kSteady + hours(5) + kTime + seconds(60)), Keys{key(1)});
  after.forget(key(1));
  EXPECT_EQ(after.due(kSteady + hours(5) + 2 * kTime), Keys());
}

TEST(DestroyAfter, TimeBeforeTheStartCounts) {
  DestroyAfter after = of();
  after.note(key(1), kStart - kTime + hours(48), kSteady);
  EXPECT_EQ(after.due(kSteady + hours(48) - seconds(1)), Keys());
  EXPECT_EQ(after.due(kSteady + hours(48)), Keys{key(1)});
}

// The clock may be wrong as the daemon starts, or as the peer's destruction was seen.
TEST(DestroyAfter, ADayIsLeftWhateverTheClockSays) {
  DestroyAfter after = of();
  after.note(key(1), DestroyAfter::System::time_point(), kSteady);
  EXPECT_EQ(after.due(kSteady + hours(24) - seconds(1)), Keys());
  EXPECT_EQ(after.due(kSteady + hours(24)), Keys{key(1)});
  DestroyAfter soon = of(seconds(2));
  soon.note(key(1), DestroyAfter::System::time_point(), kSteady);
  EXPECT_EQ(soon.due(kSteady + seconds(1)), Keys());
  EXPECT_EQ(soon.due(kSteady + seconds(2)), Keys{key(1)});
}

TEST(DestroyAfter, NeverWithoutATime) {
  DestroyAfter after = of(seconds(0));
  after.note(key(1), DestroyAfter::System::time_point(), kSteady);
  EXPECT_EQ(after.at(kStart), std::nullopt);
  EXPECT_EQ(after.due(kSteady + 100 * kTime), Keys());
}

}  // namespace
}  // namespace tinyot::test
