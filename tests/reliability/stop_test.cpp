// A party is stopped (SIGSTOP) during a session: the peer ends in time, and the party ends after it
// is continued.
#include <gtest/gtest.h>
#include <signal.h>

#include <thread>

#include "tests/reliability/party_pair.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Slow enough to stop a party during a session.
constexpr WirePlan kSlow{.chunk_bytes_max = 400, .delay_max = 1ms};

// Stops the party once B has sent this many bytes.
void stop_at(PartyPair& pair, char party, std::uint64_t bytes) {
  pair.meanwhile([=](Process& a, Process& b, const Wire& wire) {
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

TEST(Stopped, PeerEndsInTimeAndStoresAgree) {
  NetworkTally tally;
  for_each_at_once(kFastWorkers, kFastWorkers, [&](std::uint64_t number) {
    const char party = number % 3 == 0 ? 'A' : 'B';
    PartyPair pair(settings()[number], tally, 1);
    stop_at(pair, party, 8000);
    pair.preprocess(kSlow);
    pair.preprocess({});
    EXPECT_TRUE(pair.are_both_done());
    stop_at(pair, party == 'A' ? 'B' : 'A',
            pair.run({})[static_cast<std::size_t>(Direction::FromConnecting)] / 2);
    pair.run(kSlow);
    pair.expect_consistent();
  });
  tally.print("stopped parties", 1);
}

}  // namespace
}  // namespace tinyot::test
