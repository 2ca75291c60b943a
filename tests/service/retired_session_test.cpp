// An operator has retired a session, as somebody else may have a copy of its store: a peer that
// leads cannot have further jobs evaluated on its material.
#include "tests/service/scripted_peer.h"

namespace tinyot::test {
namespace {

// A connection reserves the material of many at a time, which it has in memory then.
constexpr const char* kShortJob = "random:width=50,depth=20";

class RetiredSessionTest : public ScriptedPeerTest {
 protected:
  void SetUp() override {
    Setup setup;
    // A job that is held is not ended by its timeout.
    setup.peer_b = "idle_timeout_s: 600";
    start_with_stock(Party::A, setup, {.low = 1000, .high = 100000});
    worker_ = worker_held_by(gate_, 1);
  }
  std::unique_ptr<ScriptedPeer::Worker> worker_held_by(Gate& gate, std::uint64_t group) {
    return std::make_unique<ScriptedPeer::Worker>(*peer_, group, 1, [&](const Outgoing& message) {
      if (message.tag == kMacDigest) gate.pass(message.ended);
    });
  }

  // The job runs on the first worker until the gate opens.
  void hold(const std::string& job) {
    peer_->send(submitted(job, kShortJob));
    peer_->start_job(job);
    worker_->begin(job, kShortJob);
    gate_.wait_until_reached();
  }
  void make_new_session() { (void)peer_->refill(peer_->accepted_order(2)); }

  // The daemon refuses the job, or closes the connection and waits for a new one.
  void expect_not_evaluated(const std::string& job) { expect_not_evaluated(job, *worker_); }
  void expect_not_evaluated(const std::string& job, ScriptedPeer::Worker& worker) {
    worker.begin(job, kShortJob);
    EXPECT_TRUE(becomes_true(
        [&] { return worker.has_ended() || b_->client().status(job).state() > v1::RUNNING; }));
    if (b_->client().status(job).state() == v1::FAILED) worker.cancel();
    const ScriptedPeer::Worker::Outcome outcome = worker.end();
    EXPECT_FALSE(outcome.is_done) << job << " was evaluated on retired material";
    if (!outcome.is_done) peer_->refuse(job);
    const Client::Result result = b_->client().result(job);
    EXPECT_EQ(result.job.state(), v1::FAILED);
    EXPECT_TRUE(result.outputs.empty());
  }
  // The new session is not concerned.
  void expect_evaluated_in_new_session() {
    ScriptedPeer::Worker worker(*peer_, 3, 2);
    peer_->send(submitted("new", kShortJob));
    peer_->start_job("new", 1, 3, 2);
    EXPECT_TRUE(worker.run("new", kShortJob).is_done);
    EXPECT_EQ(b_->client().result("new").job.state(), v1::DONE);
    EXPECT_TRUE(becomes_true([&] { return !has_session(1); }, std::chrono::seconds(30)));
    EXPECT_TRUE(
        becomes_true([&] { return sessions_ended("retired") == "1"; }, std::chrono::seconds(30)));
  }

  Gate gate_;
  std::unique_ptr<ScriptedPeer::Worker> worker_;
};

// The connection has been in use since before the retirement, and is at no time idle.
TEST_F(RetiredSessionTest, LeaderGoesOnWithConnection) {
  hold("running");
  ASSERT_TRUE(b_->client().retire("alice").ok());
  make_new_session();
  peer_->send(submitted("after", kShortJob));
  peer_->start_job("after", 0, 1, 2);
  ASSERT_TRUE(becomes_true([&] { return b_->client().status("after").state() >= v1::RUNNING; }));
  gate_.open();
  (void)worker_->end();
  expect_not_evaluated("after");
  expect_evaluated_in_new_session();
}

TEST_F(RetiredSessionTest, LeaderGoesOnWithIdleConnection) {
  gate_.open();
  hold("before");
  EXPECT_TRUE(worker_->end().is_done);
  EXPECT_EQ(b_->client().result("before").job.state(), v1::DONE);
  ASSERT_TRUE(b_->client().retire("alice").ok());
  make_new_session();
  peer_->send(submitted("after", kShortJob));
  peer_->start_job("after", 0, 1, 2);
  expect_not_evaluated("after");
  expect_evaluated_in_new_session();
}

// The keys of its store are gone, however long the leader keeps the refill.
TEST_F(RetiredSessionTest, RefillBreaksOff) {
  Gate gate;
  const wire::Refill order = peer_->accepted_order(2);
  const std::jthread leader([&] {
    EXPECT_THROW((void)peer_->refill(order,
                                     [&](const Outgoing& message) {
                                       if (message.tag == kLeakyTripleG) gate.pass(message.ended);
                                     }),
                 Error);
  });
  gate.wait_until_reached();
  EXPECT_TRUE(has_session(2));
  EXPECT_TRUE(b_->client().retire("alice").ok());
  EXPECT_TRUE(becomes_true([&] { return !has_session(2); }, std::chrono::seconds(60)));
  gate.open();
}

TEST_F(RetiredSessionTest, LeaderOrdersRefillOfRetiredSession) {
  ASSERT_TRUE(b_->client().retire("alice").ok());
  const wire::RefillAnswer answer = peer_->order(peer_->refill_order(1));
  EXPECT_FALSE(answer.begins());
  EXPECT_NE(answer.reason().find("retired"), std::string::npos) << answer.reason();
}

TEST_F(RetiredSessionTest, LeaderNamesRetiredSession) {
  hold("running");
  ASSERT_TRUE(b_->client().retire("alice").ok());
  make_new_session();
  for (const auto& [worker, group] : {std::pair<std::uint32_t, std::uint64_t>{0, 1}, {1, 2}}) {
    const std::string job = "after-" + std::to_string(worker);
    peer_->send(submitted(job, kShortJob));
    peer_->start_job(job, worker, group, 1);
    EXPECT_FALSE(peer_->refusal(job).empty());
    EXPECT_NE(b_->client().status(job).state(), v1::RUNNING);
  }
  gate_.open();
  (void)worker_->end();
  expect_evaluated_in_new_session();
}

// It has been accepted while the session was in use, for a worker that still had another job.
TEST_F(RetiredSessionTest, AcceptedJobIsNotBegunAfterwards) {
  hold("running");
  peer_->send(submitted("next", kShortJob));
  peer_->start_job("next");
  ASSERT_TRUE(becomes_true([&] { return b_->client().status("next").state() == v1::RUNNING; }));
  ASSERT_TRUE(b_->client().retire("alice").ok());
  make_new_session();
  gate_.open();
  (void)worker_->end();
  expect_not_evaluated("next");
  expect_evaluated_in_new_session();
}

// It would be begun on a new connection, as another worker still uses the store.
TEST_F(RetiredSessionTest, AcceptedJobIsNotBegunOnNewConnection) {
  hold("running");
  Gate other_gate;
  const auto other = worker_held_by(other_gate, 2);
  for (const std::string job : {"other", "next"}) {
    peer_->send(submitted(job, kShortJob));
    peer_->start_job(job, 1, 2);
    ASSERT_TRUE(becomes_true([&] { return b_->client().status(job).state() == v1::RUNNING; }));
    if (job == "next") continue;
    other->begin(job, kShortJob);
    other_gate.wait_until_reached();
  }
  ASSERT_TRUE(b_->client().retire("alice").ok());
  make_new_session();
  other_gate.open();
  (void)other->end();
  ScriptedPeer::Worker anew(*peer_, 2, 1);
  expect_not_evaluated("next", anew);
  gate_.open();
  (void)worker_->end();
  expect_evaluated_in_new_session();
}

// A job of one session on the connection of another one, neither of which is retired.
TEST_F(RetiredSessionTest, LeaderNamesOtherSessionThanThatOfTheConnection) {
  gate_.open();
  hold("before");
  EXPECT_TRUE(worker_->end().is_done);
  const wire::Refill order = peer_->refill_order(2);
  // A daemon that begins no session which it does not need has no other one.
  if (!peer_->order(order).begins()) return;
  (void)peer_->refill(order);
  peer_->send(submitted("other", kShortJob));
  peer_->start_job("other", 0, 1, 2);
  expect_not_evaluated("other");
}

}  // namespace
}  // namespace tinyot::test
