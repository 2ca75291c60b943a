// A party is stopped (SIGSTOP) during a session: the peer ends in time, and the party ends after it
// is continued.
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/reliability/party_pair.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// The network holds everything once B has sent this many bytes.
Relay::Plan held_at(std::uint64_t bytes) { return {.chunk_bytes_max = 400, .hold_at = bytes}; }

// Stops the party while the network holds.
void stop(PartyPair& pair, char party) {
  pair.meanwhile([=](Process& a, Process& b, Relay& relay) {
    relay.wait_until_held();
    Process &stopped = party == 'A' ? a : b, &other = party == 'A' ? b : a;
    stopped.signal(SIGSTOP);
    relay.resume();
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
    stop(pair, party);
    pair.preprocess(held_at(8000));
    pair.preprocess({});
    EXPECT_TRUE(pair.are_both_done());
    const auto sent = pair.run({})[static_cast<std::size_t>(Direction::FromConnecting)];
    stop(pair, party == 'A' ? 'B' : 'A');
    pair.run(held_at(sent / 2));
    pair.expect_consistent();
  });
  tally.print("stopped parties", 1);
}

}  // namespace
}  // namespace tinyot::test
