#include "service/call_deadlines.h"

#include <gtest/gtest.h>

#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

using service::CallDeadlines;
using Clock = CallDeadlines::Clock;
using std::chrono::seconds;

class CallDeadlinesTest : public ::testing::Test {
 protected:
  const Clock::time_point begin_ = Clock::now();
  CallDeadlines calls_;
  int cancelled_ = 0;
  const std::function<void()> cancel_ = [this] { ++cancelled_; };
};

TEST_F(CallDeadlinesTest, EndsCallWhoseMessageTakesTooLong) {
  CallDeadlines::Call call(calls_, cancel_, seconds(600), begin_);
  EXPECT_EQ(calls_.end_late(begin_ + CallDeadlines::kMessageTime - seconds(1)), 0u);
  call.begin_message(begin_ + seconds(30));
  EXPECT_EQ(calls_.end_late(begin_ + CallDeadlines::kMessageTime + seconds(29)), 0u);
  EXPECT_EQ(calls_.end_late(begin_ + CallDeadlines::kMessageTime + seconds(30)), 1u);
  EXPECT_EQ(cancelled_, 1);
  EXPECT_EQ(calls_.end_late(begin_ + seconds(600)), 0u) << "it is ended once";
}

// However many messages it divides what it sends into.
TEST_F(CallDeadlinesTest, EndsCallThatTakesTooLongForAllMessages) {
  CallDeadlines::Call call(calls_, cancel_, seconds(100), begin_);
  for (int s = 0; s < 100; s += 20) {
    call.begin_message(begin_ + seconds(s));
    EXPECT_EQ(calls_.end_late(begin_ + seconds(s + 19)), 0u);
  }
  EXPECT_EQ(calls_.end_late(begin_ + seconds(100)), 1u);
}

TEST_F(CallDeadlinesTest, EndsNoOtherCall) {
  const CallDeadlines::Call other(calls_, cancel_, seconds(1000), begin_ + seconds(60));
  { const CallDeadlines::Call ended(calls_, cancel_, seconds(600), begin_); }
  EXPECT_EQ(calls_.end_late(begin_ + seconds(90)), 0u);
  EXPECT_EQ(cancelled_, 0);
}

}  // namespace
}  // namespace tinyot::test
