// Jobs that are interrupted at a known byte: killed, told to stop, garbled. The other side notices,
// both stores stay valid, and jobs that can be continued are continued.
#include <signal.h>

#include "net/shaped_link.h"
#include "storage/store.h"
#include "tests/support/becomes_true.h"
#include "tests/support/held_test.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

// Sixteen units; for each B sends the same number of bytes, so that a job can be stopped in the
// middle of one.
const Arguments kSixteen = {"--ands", "2^14", "--unit", "2^10"}, kUnits = kSixteen + kFewColumns;
constexpr std::uint64_t kUnitAnds = 1 << 10, kUnits16 = 16;
const Arguments kResume = kUnits + Arguments{"--resume"};

class InterruptionTest : public HeldTest {
 protected:
  // The number of bytes that B has sent in the middle of the unit after `units` whole ones, in a
  // job whose units are those of `job`.
  Relay::Plan hold_after(std::uint64_t units, const Arguments& job = kUnits) const {
    return {.hold_at = sent_by_b(job).until(2 * units + 1, 2 * kUnits16)};
  }

  // B is killed; A must notice and name its own phase.
  void kill_b_after(std::uint64_t units, const Arguments& options, const Arguments& job = kUnits,
                    const std::string& phase = "aBits: columns") {
    Held held = start_held(options, options, hold_after(units, job));
    held.b->signal(SIGKILL);
    EXPECT_EQ(held.b->end().status, 128 + SIGKILL);
    held.relay->cut();
    EXPECT_TRUE(ended_with(held.a->end(), 3, "(phase " + phase + ", after "));
  }

  // Five units had been made when B was killed during the sixth. A has them all; B may have been
  // killed before the fifth was on disk. Returns the number of units that both have.
  std::uint64_t expect_units_after_the_kill(const std::string& kind) const {
    const Json of_a = store_info('A'), of_b = store_info('B');
    EXPECT_EQ(of_a["units_made"], 5);
    EXPECT_GE(of_b["units_made"], 4);
    EXPECT_LE(of_b["units_made"], 5);
    for (const Json& info : {of_a, of_b})
      EXPECT_EQ(info["kinds"][kind]["made"], info["units_made"].get<std::uint64_t>() * kUnitAnds);
    return of_b["units_made"];
  }

  // Both parties resume and finish.
  void expect_resumed(std::uint64_t units_missing, const Arguments& resume = kResume,
                      const std::string& last_kind = "auth_ots_ba") const {
    const BothEnded ended = both("preprocess", resume, resume);
    for (const Ended& each : {ended.a, ended.b}) {
      ASSERT_TRUE(ended_with(each, 0));
      const Json report = json_of(each);
      EXPECT_EQ(report["ands"], units_missing * kUnitAnds);
      EXPECT_EQ(report["complete"], true);
    }
    for (const char party : {'A', 'B'}) {
      const Json info = store_info(party);
      EXPECT_EQ(info["units_made"], kUnits16) << party;
      EXPECT_EQ(info["kinds"][last_kind]["made"], kUnits16 * kUnitAnds) << party;
    }
  }

  // The stores can be used for a run.
  void expect_sums() const {
    const Arguments local = {"local",       "run",       "--store",
                             dir_.string(), "--circuit", circuit_file("adder64.txt"),
                             "--format",    "json"};
    EXPECT_EQ(json_of(tinyot(local + Arguments{"--input", "0=0x2a", "--input",
                                               "1=0x17"}))["B"]["outputs"]["0"],
              "0x0000000000000041");
  }

  Store store_of(char party) const {
    return Store::open(path(std::string(1, party)), {.purpose = Purpose::Inspect});
  }
  // Waits until the party has committed some units.
  void wait_for_units(char party, std::uint64_t units) const {
    ASSERT_TRUE(becomes_true([&] {
      try {
        return store_of(party).manifest().units_made >= units;
      } catch (const std::exception&) {
        return false;  // the store is being created
      }
    }));
  }

  void expect_stopped_by(char party, int signal);
};

TEST_F(InterruptionTest, PeerKilledWhilePreprocessing) {
  kill_b_after(5, kUnits);
  const std::uint64_t units = expect_units_after_the_kill("auth_ands_b");
  EXPECT_TRUE(ended_with(tinyot(as('A', "preprocess", kUnits)), 5, "--resume"));
  expect_resumed(kUnits16 - units);
  expect_sums();
}

TEST_F(InterruptionTest, PeerKilledWhileMakingTriples) {
  const Arguments fast = kSixteen + Arguments{"--profile", "fast"};
  kill_b_after(5, fast, fast, "leaky triples");
  const std::uint64_t units = expect_units_after_the_kill("triples");
  EXPECT_TRUE(ended_with(tinyot(as('A', "preprocess", fast)), 5, "--resume"));
  expect_resumed(kUnits16 - units, fast + Arguments{"--resume"}, "triples");
  expect_sums();
}

// Units that only one party has are made again: no unit is served before both parties have
// confirmed it.
TEST_F(InterruptionTest, StoresWithDifferentUnitsContinueFromCommonOnes) {
  kill_b_after(3, kUnits);
  Store::open(path("B"), {.purpose = Purpose::Make}).cut_back(1);
  const Json of_a = store_info('A');
  EXPECT_GT(of_a["units_made"], 1);
  EXPECT_EQ(of_a["kinds"]["auth_ands_b"]["unconfirmed"], of_a["kinds"]["auth_ands_b"]["made"]);
  expect_resumed(kUnits16 - 1);
  for (const char party : {'A', 'B'})
    EXPECT_EQ(store_info(party)["kinds"]["auth_ands_b"]["unconfirmed"], 0) << party;
  expect_sums();
}

// Material that has been served cannot be made again: an older copy of a store is rejected, and the
// error says whose store it is.
TEST_F(InterruptionTest, RejectsOlderCopyOfUsedStore) {
  kill_b_after(2, kUnits);
  std::filesystem::copy(path("B"), path("older"), std::filesystem::copy_options::recursive);
  kill_b_after(4, kResume);
  expect_sums();
  std::filesystem::remove_all(path("B"));
  std::filesystem::rename(path("older"), path("B"));
  EXPECT_TRUE(ended_with(tinyot({"store", "info", path("B")}), 5, "is a copy"));
  EXPECT_TRUE(ended_with(tinyot({"store", "info", path("B")}), 5, "tinyot store adopt DIR\n"));
  EXPECT_TRUE(ended_with(tinyot({"store", "adopt", path("B")}), 0));
  const Arguments first = {"--circuit", circuit_file("adder64.txt"), "--input", "0=1"},
                  second = {"--circuit", circuit_file("adder64.txt"), "--input", "1=1"};
  for (const BothEnded& ended :
       {both("preprocess", kResume, kResume), both("run", first, second)}) {
    EXPECT_TRUE(ended_with(ended.a, 6, "the peer's store is an older copy"));
    EXPECT_TRUE(ended_with(ended.b, 6, "this store is an older copy"));
  }
}

TEST_F(InterruptionTest, PeerKilledWhileRunning) {
  preprocess("2^13");
  const Arguments aes = {"--circuit", "aes128"};
  Held held = start_held(
      aes + Arguments{"--input", "key_a=" + random_hex(16), "--input", "message=" + random_hex(16)},
      aes + Arguments{"--input", "key_b=" + random_hex(16)}, {.hold_at = 3500}, "run");
  held.b->signal(SIGKILL);
  EXPECT_EQ(held.b->end().status, 128 + SIGKILL);
  held.relay->cut();
  EXPECT_TRUE(ended_with(held.a->end(), 3, "(phase gates, after "));
  // The material that the run had taken is gone on both sides, and the rest is valid.
  for (const char party : {'A', 'B'})
    EXPECT_EQ(store_info(party)["kinds"]["auth_ands_a"]["spent"], 6400) << party;
  expect_sums();
}

// With several concurrent units, held when B has sent a third of what it sends for them.
constexpr std::uint64_t kManyUnits = 24;
const Arguments kLongJob =
    Arguments{"--ands", std::to_string(kManyUnits* kUnitAnds), "--unit", "2^10"} + kFewColumns;
const Arguments kThreeWorkers = kLongJob + Arguments{"--threads", "3"};

TEST_F(InterruptionTest, PeerWithSeveralWorkersKilled) {
  Held held =
      start_held(kThreeWorkers, kThreeWorkers, {.hold_at = sent_by_b(kLongJob).until(1, 3)});
  held.b->signal(SIGKILL);
  EXPECT_EQ(held.b->end().status, 128 + SIGKILL);
  held.relay->cut();
  EXPECT_TRUE(ended_with(held.a->end(), 3, "closed the connection"));
  // Only whole units count, in order.
  const Json info = store_info('A');
  EXPECT_LT(info["units_made"], kManyUnits);
  const Json& kinds = info["kinds"];
  const std::uint64_t made =
      kinds.contains("auth_ands_a") ? kinds["auth_ands_a"]["made"].get<std::uint64_t>() : 0;
  EXPECT_EQ(made, info["units_made"].get<std::uint64_t>() * kUnitAnds);
}

// Over a link on which a party with one worker has several units in flight.
constexpr std::uint64_t kFastUnits = 24;
const Arguments kFastJob = {"--profile", "fast", "--ands", std::to_string(kFastUnits* kUnitAnds),
                            "--unit",    "2^10"};

class InFlightTest : public InterruptionTest {
 protected:
  InFlightTest() {
    peer_port_ = reserved_port();
    link_ =
        std::make_unique<ShapedLink>(LinkShape{.rtt = std::chrono::milliseconds(4)},
                                     Address{"127.0.0.1", peer_port_}, Address{"127.0.0.1", port_});
  }

  // Both parties have made a part of the units, and make the rest. Runs take different material.
  void expect_resumed_from_parts() const {
    for (const char party : {'A', 'B'}) {
      EXPECT_LT(store_info(party)["units_made"], kFastUnits) << party;
      EXPECT_NE(store_info(party)["state"], "revoked") << party;
    }
    const Arguments resume = kFastJob + Arguments{"--resume"};
    const BothEnded ended = both("preprocess", resume, resume);
    for (const Ended& each : {ended.a, ended.b}) {
      ASSERT_TRUE(ended_with(each, 0));
      EXPECT_EQ(json_of(each)["complete"], true);
      EXPECT_EQ(json_of(each)["units_in_flight"], 3);
    }
    std::uint64_t reserved[2] = {};
    for (std::uint64_t& now : reserved) {
      expect_sums();
      now = store_info('A')["kinds"]["triples"]["spent"];
      EXPECT_EQ(store_info('B')["kinds"]["triples"]["spent"], now);
    }
    EXPECT_EQ(reserved[1], 2 * reserved[0]);
    for (const char party : {'A', 'B'}) {
      EXPECT_EQ(store_info(party)["kinds"]["triples"]["made"], kFastUnits * kUnitAnds) << party;
      EXPECT_TRUE(ended_with(tinyot({"store", "verify", path(std::string(1, party))}), 0));
    }
  }

 private:
  std::unique_ptr<ShapedLink> link_;
};

TEST_F(InFlightTest, PeerKilledCanBeResumed) {
  Held held = start_held_halfway(kFastJob);
  held.b->signal(SIGKILL);
  EXPECT_EQ(held.b->end().status, 128 + SIGKILL);
  held.relay->cut();
  EXPECT_TRUE(ended_with(held.a->end(), 3, "closed the connection"));
  expect_resumed_from_parts();
}

TEST_F(InFlightTest, SigintCanBeResumed) {
  Held held = start_held_halfway(kFastJob);
  held.a->signal(SIGINT);
  held.relay->resume();
  EXPECT_TRUE(ended_with(held.a->end(), 130));
  EXPECT_TRUE(ended_with(held.b->end(), 0));
  EXPECT_EQ(store_info('A')["units_made"], store_info('B')["units_made"]);
  expect_resumed_from_parts();
}

TEST_F(InterruptionTest, SigintWithSeveralWorkersCanBeResumedWithOne) {
  Held held =
      start_held(kThreeWorkers, kThreeWorkers, {.hold_at = sent_by_b(kLongJob).until(1, 3)});
  held.a->signal(SIGINT);
  held.relay->resume();
  EXPECT_TRUE(ended_with(held.a->end(), 130));
  EXPECT_TRUE(ended_with(held.b->end(), 0));
  EXPECT_EQ(store_info('A')["units_made"], store_info('B')["units_made"]);
  EXPECT_LT(store_info('A')["units_made"], kManyUnits);
  const Arguments resume = kLongJob + Arguments{"--resume"};
  const BothEnded ended = both("preprocess", resume, resume);
  for (const Ended& each : {ended.a, ended.b}) EXPECT_EQ(json_of(each)["complete"], true);
  EXPECT_EQ(store_info('B')["kinds"]["auth_ots_ab"]["made"], kManyUnits * kUnitAnds);
  expect_sums();
}

// One party is told to stop during the sixth unit: it ends after that unit, and so does the other
// party.
void InterruptionTest::expect_stopped_by(char party, int signal) {
  Held held = start_held(kUnits, kUnits, hold_after(5));
  (party == 'A' ? held.a : held.b)->signal(signal);
  held.relay->resume();
  const Ended a = held.a->end(), b = held.b->end();
  const Ended &stopped = party == 'A' ? a : b, &other = party == 'A' ? b : a;
  EXPECT_TRUE(ended_with(stopped, 128 + signal));
  EXPECT_TRUE(ended_with(other, 0));
  for (const Ended& each : {a, b}) {
    const Json report = json_of(each);
    EXPECT_EQ(report["complete"], false);
    EXPECT_EQ(report["ands"], 6 * kUnitAnds);
  }
  EXPECT_EQ(store_info('A')["units_made"], 6);
}

TEST_F(InterruptionTest, SigintEndsAfterTheUnitAndCanBeResumed) {
  expect_stopped_by('A', SIGINT);
  expect_resumed(10);
  expect_sums();
}

TEST_F(InterruptionTest, SigtermOfTheOtherParty) { expect_stopped_by('B', SIGTERM); }

TEST_F(InterruptionTest, SecondSigintDropsTheUnit) {
  Held held = start_held(kUnits, kUnits, hold_after(5));
  // The sixth has begun before the fifth is on disk.
  for (const char party : {'A', 'B'}) wait_for_units(party, 5);
  held.a->signal(SIGINT);
  // The handler is for one signal.
  ASSERT_TRUE(becomes_true([&] { return !held.a->catches(SIGINT); }));
  held.a->signal(SIGINT);
  EXPECT_EQ(held.a->end().status, 128 + SIGINT);
  held.relay->cut();
  EXPECT_TRUE(ended_with(held.b->end(), 3, "phase"));
  for (const char party : {'A', 'B'}) EXPECT_EQ(store_info(party)["units_made"], 5) << party;
}

TEST_F(InterruptionTest, SigintWhileWaitingForThePeer) {
  Process a(TINYOT_BINARY, as('A', "preprocess", kUnits));
  ASSERT_TRUE(becomes_true([&] { return is_listening(port_); }));
  a.signal(SIGINT);
  EXPECT_EQ(a.end().status, 128 + SIGINT);
  EXPECT_FALSE(std::filesystem::exists(path("A")));
}

TEST_F(InterruptionTest, TimesOutIfThePeerStopsAnswering) {
  const Arguments impatient = kUnits + Arguments{"--idle-timeout", "1"};
  Held held = start_held(impatient, impatient, hold_after(1));
  EXPECT_TRUE(ended_with(held.a->end(), 3, "no progress for 1 s"));
  EXPECT_TRUE(ended_with(held.b->end(), 3, "no progress for 1 s"));
}

// A whole range of bytes of the columns arrives inverted: the honest receiver ends with 4 and
// notifies the other side, and the session is revoked for both.
TEST_F(InterruptionTest, GarbledBytesEndTheSession) {
  const std::uint64_t unit_ends = sent_by_b(kUnits).until(1, kUnits16);
  Held held =
      start_held(kUnits, kUnits, {.change = inverting(unit_ends + 100000, unit_ends + 200000)});
  EXPECT_TRUE(ended_with(held.a->end(), 4, "the session is revoked"));
  EXPECT_TRUE(ended_with(held.b->end(), 3, "the peer aborted the session"));
  for (const char party : {'A', 'B'}) {
    const Json info = store_info(party);
    EXPECT_EQ(info["state"], "revoked") << party;
    EXPECT_FALSE(info["revocation_reason"].get<std::string>().empty()) << party;
  }
  EXPECT_TRUE(
      ended_with(tinyot(as('A', "preprocess", kResume + Arguments{"--connect-timeout", "1"})), 5,
                 "session is revoked"));
  EXPECT_TRUE(ended_with(
      tinyot(as('A', "run", {"--circuit", circuit_file("adder64.txt"), "--input", "0=1"})), 5,
      "session is revoked"));
}

}  // namespace
}  // namespace tinyot::test
