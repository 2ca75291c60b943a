// Units that are broken off and checks that fail, between processes over loopback: every attempt is
// counted, and a store is revoked immediately, whatever the peer does.
#include <cmath>

#include "offline/parameters.h"
#include "storage/store.h"
#include "tests/support/held_test.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

// One such unit may be outstanding: its risk is 2^-40.98, the limit 2^-40.
const UnitPlan kPlan{128, 6};
const Arguments kJob = {"--profile", "fast", "--unit", "128", "--bucket", "6", "--ands", "128"};
const Arguments kJobResumed = kJob + Arguments{"--resume"};

offline::SecurityParameters params() {
  return offline::SecurityParameters::make(
      {.profile = Profile::Fast, .unit = kPlan.ands, .bucket = kPlan.bucket});
}

class BrokenAttempts : public HeldTest {
 protected:
  // Runs both parties until B has sent `bytes` bytes; then the connection is closed.
  BothEnded break_off(const Arguments& job, std::uint64_t bytes) {
    Held held = start_held(job, job, {.hold_at = bytes});
    held.relay->cut();
    return {held.a->end(), held.b->end()};
  }

  // The number of bytes that B sends until the unit of the job is nearly done.
  std::uint64_t bytes_in_unit() const { return sent_by_b(kJob).until(9, 10); }

  AttemptTotals attempts(char party) const {
    return Store::open(path(std::string(1, party)), {.purpose = Purpose::Inspect}).attempts();
  }

  void expect_outstanding(std::uint64_t units, const Risk& risk) const {
    for (const char party : {'A', 'B'}) {
      EXPECT_EQ(attempts(party).outstanding, units) << party;
      EXPECT_EQ(attempts(party).risk, risk) << party;
      EXPECT_EQ(store_info(party)["outstanding"]["units"], units) << party;
    }
  }
};

// Each broken attempt is counted by both stores. When no further unit with the same bucket fits,
// the next one has a larger bucket and can be made; beyond that the store is refused.
TEST_F(BrokenAttempts, AreCountedAndEnlargeTheBucket) {
  ASSERT_EQ(params().units_outstanding_max(kPlan), 1);
  const std::uint64_t in_unit = bytes_in_unit();
  Risk risk = params().risk(kPlan);
  EXPECT_TRUE(ended_with(break_off(kJob, in_unit).a, 3));
  expect_outstanding(1, risk);
  for (std::uint64_t units = 2; units <= 3; ++units) {
    break_off(kJobResumed, in_unit);
    risk += params().risk({kPlan.ands, kPlan.bucket.only() + 1});
    expect_outstanding(units, risk);
  }
  EXPECT_LE(risk, params().risk_limit());
  const BothEnded whole = both("preprocess", kJobResumed, kJobResumed);
  for (const Ended& ended : {whole.a, whole.b}) {
    ASSERT_TRUE(ended_with(ended, 0));
    EXPECT_EQ(json_of(ended)["units"][0]["bucket"], kPlan.bucket.only() + 1) << ended.out;
  }
  expect_outstanding(3, risk);
}

TEST_F(BrokenAttempts, FinallyLeaveNoRoom) {
  break_off(kJob, bytes_in_unit());
  Store::open(path("A"), {.purpose = Purpose::Make}).begin_unit({0, kPlan, params().risk_limit()});
  const BothEnded ended = both("preprocess", kJobResumed, kJobResumed);
  EXPECT_TRUE(ended_with(ended.a, 5, "leave no room for another unit"));
  EXPECT_NE(ended.b.status, 0);
  EXPECT_EQ(attempts('A').outstanding, 2u) << "a unit that was refused was not begun";
}

TEST_F(BrokenAttempts, LeadToNoUnitsBeyondTheLimitOfMemory) {
  break_off(kJob, bytes_in_unit());
  Risk spent = params().risk_limit();
  spent -= params().risk(kPlan);
  spent -= params().risk({kPlan.ands, kPlan.bucket.only() + 1});
  Store::open(path("A"), {.purpose = Purpose::Make}).begin_unit({0, kPlan, spent});
  const BothEnded small = both("preprocess", kJobResumed + Arguments{"--memory", "1"}, kJobResumed);
  EXPECT_TRUE(ended_with(small.a, 5, "bytes of memory"));
  EXPECT_NE(small.b.status, 0);
  EXPECT_EQ(attempts('A').outstanding, 2u) << "a unit that was refused was not begun";
  EXPECT_TRUE(ended_with(both("preprocess", kJobResumed, kJobResumed).a, 0));
}

// What broken attempts have spent is spent for the units of later jobs as well.
TEST_F(BrokenAttempts, LeaveNoRoomInStoreThatGrows) {
  ASSERT_TRUE(ended_with(both("preprocess", kJob, kJob).a, 0));
  Store::open(path("A"), {.purpose = Purpose::Make}).begin_unit({0, kPlan, params().risk_limit()});
  const Arguments more = {"--unit", "128", "--bucket", "6", "--add", "128"};
  const BothEnded ended = both("preprocess", more, more);
  EXPECT_TRUE(ended_with(ended.a, 5, "leave no room for another unit"));
  EXPECT_EQ(store_info('A')["units_made"], 1);
}

class FailedCheck : public BrokenAttempts {
 protected:
  // A check of A fails on altered bytes of B, while nothing that A sends is read any more. A
  // neither waits for its idle timeout nor reads all that arrives.
  void expect_revoked(const std::string& command, const Arguments& of_a, const Arguments& of_b,
                      std::uint64_t bytes) {
    const Arguments patient = {"--idle-timeout", "3600"};
    Relay flooding(port_,
                   {.fault_point = FaultPoint{Fault::Flood, Direction::FromConnecting, bytes}});
    peer_port_ = flooding.port();
    auto [a, b] = start(command, of_a + patient, of_b + patient);
    EXPECT_TRUE(ended_with(a.end(), 4));
    EXPECT_TRUE(flooding.is_injected());
    EXPECT_TRUE(is_revoked());
  }

  bool is_revoked() const {
    const Store store = Store::open(path("A"), {.purpose = Purpose::Inspect});
    return store.manifest().state == StoreState::Revoked && store.keys_are_gone();
  }
};

TEST_F(FailedCheck, OfRunRevokesStoreAlthoughThePeerReadsNothing) {
  const Arguments job = {"--profile", "fast", "--ands", "2^13"};
  ASSERT_TRUE(ended_with(both("preprocess", job, job).a, 0));
  expect_revoked("run",
                 {"--circuit", "aes128", "--input", "key_a=" + random_hex(16), "--input",
                  "message=" + random_hex(16)},
                 {"--circuit", "aes128", "--input", "key_b=" + random_hex(16)}, 1500);
}

TEST_F(FailedCheck, OfPreprocessingRevokesStoreAlthoughThePeerReadsNothing) {
  const std::uint64_t in_unit = bytes_in_unit();
  expect_revoked("preprocess", kJob, kJob, in_unit);
}

}  // namespace
}  // namespace tinyot::test
