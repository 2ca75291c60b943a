// A party that is stopped in the middle of a session: the other one leaves it in time, and once it goes on it ends as well.
#include <gtest/gtest.h>
#include <signal.h>

#include <thread>

#include "tests/reliability/couple.h"

namespace tinyot::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// A wire so slow that a session is caught in its middle.
constexpr WirePlan kSlow{.chunk_bytes_max = 400, .delay_max = 1ms};

class Stopped : public ::testing::TestWithParam<std::tuple<std::size_t, char>> {
 protected:
  // Stops the party once so many bytes have come from B.
  void stop_at(std::uint64_t bytes) {
    couple_.meanwhile([this, bytes](Process& a, Process& b, const Wire& wire) {
      for (const auto until = Clock::now() + std::chrono::seconds(kSessionMax); wire.bytes(Direction::FromConnecting) < bytes && Clock::now() < until;)
        std::this_thread::sleep_for(200us);
      Process &stopped = party_ == 'A' ? a : b, &other = party_ == 'A' ? b : a;
      stopped.signal(SIGSTOP);
      const auto start = Clock::now();
      const Ended left = other.end();
      EXPECT_EQ(left.status, 3) << left.err;
      EXPECT_NE(left.err.find("--idle-timeout"), std::string::npos) << left.err;
      EXPECT_GE(Clock::now() - start, std::chrono::seconds(kIdleTimeout) - 200ms);
      EXPECT_LE(Clock::now() - start, std::chrono::seconds(2 * kIdleTimeout));
      stopped.signal(SIGCONT);
      EXPECT_EQ(stopped.end().status, 3);
      ++stopped_;
    });
  }

  const Setting& setting_ = settings()[std::get<0>(GetParam())];
  const char party_ = std::get<1>(GetParam());
  int stopped_ = 0;
  NetworkTally tally_;
  Couple couple_{setting_, tally_, 1};
};

std::string name_of(const ::testing::TestParamInfo<Stopped::ParamType>& info) {
  return settings()[std::get<0>(info.param)].name + std::get<1>(info.param);
}

INSTANTIATE_TEST_SUITE_P(Over, Stopped, ::testing::Combine(::testing::Range<std::size_t>(0, 4), ::testing::Values('A', 'B')), name_of);

TEST_P(Stopped, IsLeftInTimeAndTheStoresAgree) {
  stop_at(8000);
  couple_.preprocess(kSlow);
  couple_.preprocess({});
  EXPECT_TRUE(couple_.are_both_done());
  stop_at(1500);
  couple_.run(kSlow);
  EXPECT_EQ(stopped_, 2);
  couple_.settle();
}

}  // namespace
}  // namespace tinyot::test
