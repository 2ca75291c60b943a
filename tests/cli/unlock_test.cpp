// Units that both parties have but that are not yet unlocked, at the first of several concurrent
// runs.
#include "storage/database.h"
#include "storage/store.h"
#include "tests/support/command_test.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

class UnlockRunTest : public CommandTest {
 protected:
  UnlockRunTest() { make_both(); }
  void make_both() const {
    EXPECT_TRUE(ended_with(tinyot({"local", "preprocess", "--store", dir_.string(), "--ands",
                                   "2^14", "--profile", "fast", "--unit", "2^8", "--allow-weak"}),
                           0));
  }

  // Restores the state of a store whose maker was killed before it had received the peer's digests.
  void lock(char party) const {
    Store store = Store::open(path(std::string(1, party)), {.purpose = Purpose::Make});
    store.change("lock", 0, [](WriteTransaction& change) {
      change.cursors().unlocked = {};
      change.cursors().units_unlocked = 0;
    });
  }
  Arguments sum(char party, const std::string& port) const {
    Arguments run = {"run",
                     "--party",
                     std::string(1, party),
                     party == 'A' ? "--listen" : "--connect",
                     "127.0.0.1:" + port,
                     "--store",
                     path(std::string(1, party)),
                     "--circuit",
                     circuit_file("adder64.txt"),
                     "--format",
                     "json",
                     "--quiet"};
    return run + (party == 'A' ? Arguments{"--input", "0=0x2a"} : Arguments{"--input", "1=0x17"});
  }
  static void expect_sum(const Ended& ended) {
    ASSERT_TRUE(ended_with(ended, 0));
    EXPECT_EQ(json_of(ended)["outputs"]["0"], "0x0000000000000041");
  }
};

// The faster party has granted a part of what the other one still has locked, and was killed before
// the other one was told.
TEST_F(UnlockRunTest, RunsAlthoughOnlyOnePartyHasUnlocked) {
  for (const char late : {'A', 'B'}) {
    lock(late);
    {
      Store store = Store::open(path(late == 'A' ? "B" : "A"));
      ReservationRequest request;
      request.counts.of = {40, 40, 0, 0, 0, 0, 300};  // more than one batch of each
      (void)store.grant(request);
    }
    const BothEnded ended = [&] {
      Process a(TINYOT_BINARY, sum('A', port_)), b(TINYOT_BINARY, sum('B', port_));
      Ended ended_a = a.end();
      return BothEnded{std::move(ended_a), b.end()};
    }();
    expect_sum(ended.a);
    expect_sum(ended.b);
    EXPECT_EQ(store_info(late)["kinds"]["triples"]["unconfirmed"], 0);
    if (late == 'A') {
      // Make both stores again.
      for (const char party : {'A', 'B'}) std::filesystem::remove_all(path(std::string(1, party)));
      make_both();
    }
  }
}

TEST_F(UnlockRunTest, ConcurrentFirstRunsUnlock) {
  constexpr int kPairsOfProcesses = 3;
  for (const char party : {'A', 'B'}) lock(party);
  std::vector<std::unique_ptr<Process>> processes;
  for (int pair = 0; pair < kPairsOfProcesses; ++pair) {
    const std::string port = reserved_port();
    for (const char party : {'A', 'B'})
      processes.push_back(std::make_unique<Process>(TINYOT_BINARY, sum(party, port)));
  }
  for (const auto& process : processes) expect_sum(process->end());
  for (const char party : {'A', 'B'})
    EXPECT_EQ(store_info(party)["kinds"]["triples"]["unconfirmed"], 0);
}

}  // namespace
}  // namespace tinyot::test
