// A party that is stopped in the middle of a session: the other one leaves it in time, and once it
// goes on it ends as well.
#include <gtest/gtest.h>
#include <signal.h>

#include <thread>

#include "tests/reliability/couple.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// A wire so slow that a session is caught in its middle.
constexpr WirePlan kSlow{.chunk_bytes_max = 400, .delay_max = 1ms};

// Stops the party once so many bytes have come from B.
void stop_at(Couple& couple, char party, std::uint64_t bytes) {
  couple.meanwhile([=](Process& a, Process& b, const Wire& wire) {
    for (const auto until = Clock::now() + std::chrono::seconds(kSessionMax);
         wire.bytes(Direction::FromConnecting) < bytes && Clock::now() < until;)
      std::this_thread::sleep_for(200us);
    Process &stopped = party == 'A' ? a : b, &other = party == 'A' ? b : a;
    stopped.signal(SIGSTOP);
    const auto start = Clock::now();
    const Ended left = other.end();
    EXPECT_EQ(left.status, 3) << left.err;
    EXPECT_NE(left.err.find("--idle-timeout"), std::string::npos) << left.err;
    EXPECT_GE(Clock::now() - start, std::chrono::seconds(kIdleTimeout) - 200ms);
    EXPECT_LE(Clock::now() - start, std::chrono::seconds(2 * kIdleTimeout));
    stopped.signal(SIGCONT);
    EXPECT_EQ(stopped.end().status, 3);
  });
}

TEST(Stopped, APartyIsLeftInTimeAndTheStoresAgree) {
  NetworkTally tally;
  for_each_at_once(kFastWorkers, kFastWorkers, [&](std::uint64_t number) {
    const char party = number % 3 == 0 ? 'A' : 'B';
    Couple couple(settings()[number], tally, 1);
    stop_at(couple, party, 8000);
    couple.preprocess(kSlow);
    couple.preprocess({});
    EXPECT_TRUE(couple.are_both_done());
    stop_at(couple, party == 'A' ? 'B' : 'A',
            couple.run({})[static_cast<std::size_t>(Direction::FromConnecting)] / 2);
    couple.run(kSlow);
    couple.settle();
  });
  tally.print("stopped parties", 1);
}

}  // namespace
}  // namespace tinyot::test
