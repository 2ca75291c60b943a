// A peer fails a check on one connection of a session while others have material in memory: none of
// them gives an output any more.
#include "storage/store.h"
#include "tests/service/scripted_peer.h"

namespace tinyot::test {
namespace {

// A connection reserves the material of many at a time, which it has in memory then.
constexpr const char* kJob = "random:width=50,depth=20";

class RevokedSessionTest : public ScriptedPeerTest {
 protected:
  void begin(Party scripted) {
    Setup setup;
    // A job that is held is not ended by its timeout.
    setup.peer_a = setup.peer_b = "idle_timeout_s: 600";
    start_with_stock(scripted, setup, {.low = 1000, .high = 200000});
  }

  // The check fails at the honest party.
  void expect_cheated(const std::string& job) {
    const v1::Job ended = honest().client().result(job).job;
    EXPECT_EQ(ended.error().error_class(), v1::PEER_CHEATED) << ended.error().message();
  }
  void expect_nothing_of(const std::string& job) {
    const Client::Result result = honest().client().result(job);
    EXPECT_EQ(result.job.state(), v1::FAILED);
    EXPECT_TRUE(result.outputs.empty());
  }
  bool has_ended(const std::string& job) {
    return honest().client().status(job).state() > v1::RUNNING;
  }
  // It is gone, and known to be revoked, exactly once.
  void expect_revoked() {
    constexpr auto kPatience = std::chrono::seconds(30);
    EXPECT_TRUE(becomes_true([&] { return sessions_ended("revoked") == "1"; }, kPatience));
    EXPECT_TRUE(becomes_true([&] { return !has_session(1); }, kPatience));
    EXPECT_EQ(honest().client().peer().sessions_revoked(), 1u);
    const std::string log = honest().stop().err;
    const std::size_t at = log.find("\"session revoked\"");
    EXPECT_NE(at, std::string::npos) << log;
    EXPECT_EQ(log.find("\"session revoked\"", at + 1), std::string::npos) << log;
  }
};

// The leader claims that the jobs are those of a new session, but goes on with the connection.
TEST_F(RevokedSessionTest, LeaderBeginsFurtherJobsOnOtherWorker) {
  begin(Party::A);
  FalseDigest lie;
  ScriptedPeer::Worker first(*peer_, 1, 1, std::ref(lie)), second(*peer_, 2, 1);
  peer_->send(submitted("honest", kJob));
  peer_->start_job("honest", 1, 2);
  EXPECT_TRUE(second.run("honest", kJob).is_done);
  EXPECT_EQ(b_->client().result("honest").job.state(), v1::DONE);

  peer_->send(submitted("cheated", kJob));
  peer_->start_job("cheated", 0, 1);
  lie.arm();
  EXPECT_FALSE(first.run("cheated", kJob).is_done);
  expect_cheated("cheated");

  const wire::Refill order = peer_->accepted_order(2);
  (void)peer_->refill(order);
  for (const std::string job : {"after-1", "after-2"}) {
    peer_->send(submitted(job, kJob));
    peer_->start_job(job, 1, 2, 2);
    const ScriptedPeer::Worker::Outcome outcome = second.run(job, kJob);
    EXPECT_FALSE(outcome.is_done) << job << " was evaluated on revoked material";
    // The daemon may wait for a new connection.
    if (!outcome.is_done) peer_->refuse(job);
    expect_nothing_of(job);
  }
  // The new session is not concerned.
  ScriptedPeer::Worker third(*peer_, 3, 2);
  peer_->send(submitted("new", kJob));
  peer_->start_job("new", 2, 3, 2);
  EXPECT_TRUE(third.run("new", kJob).is_done);
  EXPECT_EQ(b_->client().result("new").job.state(), v1::DONE);
  expect_revoked();
}

// A Start that names the revoked session is refused.
TEST_F(RevokedSessionTest, LeaderNamesRevokedSession) {
  begin(Party::A);
  FalseDigest lie;
  lie.arm();
  ScriptedPeer::Worker first(*peer_, 1, 1, std::ref(lie));
  peer_->send(submitted("cheated", kJob));
  peer_->start_job("cheated", 0, 1);
  EXPECT_FALSE(first.run("cheated", kJob).is_done);
  expect_cheated("cheated");
  peer_->send(submitted("after", kJob));
  peer_->start_job("after", 1, 2, 1);
  EXPECT_FALSE(peer_->refusal("after").empty());
  EXPECT_NE(b_->client().status("after").state(), v1::RUNNING);
  expect_revoked();
}

TEST_F(RevokedSessionTest, RunningJobOfOtherWorkerEndsAtFollower) {
  begin(Party::A);
  FalseDigest lie;
  Gate gate;
  lie.arm();
  ScriptedPeer::Worker first(*peer_, 1, 1, std::ref(lie)),
      second(*peer_, 2, 1, [&](const Outgoing&message) {
        if (message.tag == kMacDigest) gate.pass(message.ended);
      });
  peer_->send(submitted("running", kJob));
  peer_->start_job("running", 1, 2);
  second.begin("running", kJob);
  gate.wait_until_reached();

  peer_->send(submitted("cheated", kJob));
  peer_->start_job("cheated", 0, 1);
  EXPECT_FALSE(first.run("cheated", kJob).is_done);
  expect_cheated("cheated");
  EXPECT_TRUE(becomes_true([&] { return has_ended("running"); }, std::chrono::seconds(20)))
      << "it goes on";
  gate.open();
  EXPECT_FALSE(second.end().is_done) << "it was evaluated on revoked material";
  expect_nothing_of("running");
  expect_revoked();
}

TEST_F(RevokedSessionTest, RunningJobOfOtherWorkerEndsAtLeader) {
  begin(Party::B);
  peer_->send_stock({1});
  FalseDigest lie;
  Gate gate;
  const auto started = [&](const std::string& job) {
    peer_->send(submitted(job, kJob));
    const wire::Start start = peer_->next(wire::Message::kStart).start();
    EXPECT_EQ(start.job(), job);
    return start;
  };
  const wire::Start start = started("running");
  ScriptedPeer::Worker first(*peer_, start.group(), start.session(), [&](const Outgoing& message) {
    if (message.tag == kMacDigest) gate.pass(message.ended);
  });
  first.begin("running", kJob);
  gate.wait_until_reached();

  const wire::Start other = started("cheated");
  ASSERT_NE(other.worker(), start.worker());
  lie.arm();
  ScriptedPeer::Worker second(*peer_, other.group(), other.session(), std::ref(lie));
  EXPECT_FALSE(second.run("cheated", kJob).is_done);
  expect_cheated("cheated");
  EXPECT_TRUE(becomes_true([&] { return has_ended("running"); }, std::chrono::seconds(20)))
      << "it goes on";
  gate.open();
  EXPECT_FALSE(first.end().is_done) << "it was evaluated on revoked material";
  expect_nothing_of("running");
  expect_revoked();
}

// An operator's alert counts them.
TEST_F(RevokedSessionTest, CheckThatFailsInARefillIsCounted) {
  make_with_scripted(Party::B, {}, {});
  honest().start();
  peer_->connect();
  peer_->send_stock({});
  const wire::Refill order = peer_->next(wire::Message::kRefill).refill();
  peer_->answer_refill(order, true);
  EXPECT_ANY_THROW((void)peer_->refill(order, [](const Outgoing& message) {
    if (message.tag == kLeakyTripleG) message.payload.at(0) ^= std::byte{1};
  }));
  EXPECT_TRUE(becomes_true([&] { return sessions_ended("revoked") == "1"; }));
  const auto metric = [&](const std::string& name) {
    return honest().metric("tinyot_" + name + "peer=\"bob\"");
  };
  EXPECT_TRUE(becomes_true([&] { return metric("refills_total{outcome=\"failed\",") == "1"; }));
  EXPECT_EQ(metric("cheating_detected_total{"), "1");
}

// A revocation that was interrupted after the keys had been erased.
TEST_F(RevokedSessionTest, StartsWithSessionWhoseRevocationWasInterrupted) {
  start_with_stock(Party::A, {}, {});
  b_->stop();
  storage::Store::open(b_->stores() / "alice" / "000001", {}).erase_keys();
  b_->start();
  EXPECT_TRUE(becomes_true([&] { return b_->client().peer().sessions_revoked() == 1; }));
  EXPECT_EQ(b_->client().ands_left(), 0u);
  EXPECT_NE(b_->stop().err.find("session revoked"), std::string::npos);
}

}  // namespace
}  // namespace tinyot::test
