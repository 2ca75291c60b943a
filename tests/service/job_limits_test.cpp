// Limits of jobs that a peer, or the moment at which something happens, could get around.
#include <utility>

#include "service/submission.h"
#include "tests/service/local_peers.h"
#include "tests/service/scripted_peer.h"

namespace tinyot::test {
namespace {

constexpr const char* kShort = "random:width=50,depth=20";
constexpr std::uint64_t kShortAnds = 1000;

class JobLimitsTest : public ScriptedPeerTest {
 protected:
  // Both parties have submitted it, and it waits for material.
  wire::Message queued(const std::string& job) {
    const wire::Message offer = submitted(job, kShort);
    peer_->send(offer);
    EXPECT_TRUE(becomes_true([&] { return state(job) == v1::QUEUED; }, std::chrono::seconds(30)));
    return offer;
  }
  // Of two jobs that both parties have submitted, the second waits until the first has ended.
  void expect_one_after_the_other() {
    peer_->send(submitted("first", kShort));
    EXPECT_EQ(peer_->next(wire::Message::kStart).start().job(), "first");
    peer_->send(submitted("second", kShort));
    wait_until_read();
    ASSERT_EQ(state("second"), v1::QUEUED);
    peer_->refuse("first");
    EXPECT_EQ(peer_->next(wire::Message::kStart).start().job(), "second");
  }
  // A job of the honest party `me`, before anything but `jobs` knows it.
  service::SharedJob added(service::Jobs& jobs, const std::string& id, Party me) {
    service::MemoryBudget budget(16 << 20);
    service::Submission submission(1 << 20, budget);
    v1::SubmitRequest request;
    request.mutable_job()->set_id(id);
    request.mutable_job()->set_circuit(kShort);
    request.add_inputs()->set_name(me == Party::A ? "a" : "b");
    request.mutable_inputs(0)->add_numbers("1");
    submission.add(std::move(request));
    engine::LoadedCircuit circuit = submission.circuit();
    (void)circuit.cost();
    service::wire::Terms terms = service::terms_of(circuit);
    auto inputs = std::make_shared<const Values>(submission.inputs(circuit, me));
    return jobs.add({id, peer_name(), std::move(circuit), std::move(terms), std::move(inputs)});
  }
  static std::string random_policy(const std::string& rate) {
    return "allow { circuit: 'random' parameter { name: 'width' max: 100 }\n"
           "        parameter { name: 'depth' max: 100 } rate { " +
           rate + " } }";
  }
};

// Jobs that wait for stock, which depends on the peer, begin no faster for that.
TEST_F(JobLimitsTest, RateOfLeaderIsThatOfJobsThatBegin) {
  Setup setup;
  setup.policy_a = random_policy("jobs: 1 seconds: 10");
  // Enough for all of them at a time.
  start_with_stock(Party::B, setup, {.low = 1000, .high = 250000});
  peer_->send_stock({});
  const std::vector<std::string> jobs = {"one", "two", "three"};
  for (const std::string& job : jobs) {
    // A policy that counted jobs which have not begun would refuse it for a time.
    ASSERT_TRUE(becomes_true([&] {
      return a_->client().submit({job, kShort, "", {{"a", "1"}}}).ok();
    }));
    wire::Message offer;
    do {
      offer = peer_->next(wire::Message::kOffer);
    } while (offer.offer().job() != job);
    peer_->send(offer);
    ASSERT_TRUE(becomes_true([&] { return state(job) == v1::QUEUED; }));
  }
  peer_->send_stock({1});
  int running = 0;
  for (const std::string& job : jobs) {
    ASSERT_TRUE(becomes_true([&] { return state(job) >= v1::RUNNING; }));
    if (state(job) == v1::RUNNING) {
      ++running;
      continue;
    }
    const v1::Job failed = a_->client().result(job).job;
    EXPECT_EQ(failed.error().error_class(), v1::DISAGREEMENT);
    EXPECT_NE(failed.error().message().find("the policy allows 1 jobs"), std::string::npos)
        << failed.error().message();
    // At the peer it would wait until its time is over.
    EXPECT_NE(peer_->refusal(job).find("the policy allows 1 jobs"), std::string::npos);
  }
  EXPECT_EQ(running, 1);
}

TEST_F(JobLimitsTest, RateOfLeaderIsNotUsedUpByJobsThatDoNotBegin) {
  Setup setup;
  setup.policy_a = random_policy("jobs: 1 seconds: 3600");
  start_with_stock(Party::B, setup, {});
  peer_->send_stock({});
  for (const std::string job : {"withdrawn-1", "withdrawn-2"}) {
    ASSERT_TRUE(a_->client().submit({job, kShort, "", {{"a", "1"}}}).ok()) << job;
    peer_->send(peer_->next(wire::Message::kOffer));
    ASSERT_TRUE(becomes_true([&] { return state(job) == v1::QUEUED; }));
    wire::Message message;
    message.mutable_withdraw()->set_job(job);
    peer_->send(message);
    ASSERT_TRUE(becomes_true([&] { return state(job) == v1::WAITING_FOR_PEER; }));
    ASSERT_TRUE(a_->client().cancel(job).ok());
  }
}

// While a client's call submits it: the peer is told of it, and only then may it begin.
class OfferWhileSubmittedTest : public JobLimitsTest,
                                public ::testing::WithParamInterface<Party> {};

INSTANTIATE_TEST_SUITE_P(ScriptedAs, OfferWhileSubmittedTest, ::testing::Values(Party::A, Party::B),
                         [](const auto& party) { return std::string(1, letter(party.param)); });

TEST_P(OfferWhileSubmittedTest, IsMatchedOnceTheJobIsOfferedToThePeer) {
  start_with_stock(GetParam(), {}, {});
  wire::Message offer = submitted("as-this", kShort);
  offer.mutable_offer()->set_job("late");
  honest().stop();
  LocalPeers peers(honest(), {});
  peer_->connect();
  peer_->send_stock({1});
  wait_until_read();  // what the link offers as it comes up
  const service::SharedJob job = added(peers.jobs(), "late", peer_of(GetParam()));
  peer_->send(offer);
  wait_until_read();
  EXPECT_EQ(peers.jobs().status(*job).state, service::JobState::WaitingForPeer);
  peers.peer().submit(job);
  const auto first = peer_->next_of({wire::Message::kOffer, wire::Message::kStart});
  EXPECT_EQ(first.offer().job(), "late");
  if (GetParam() == Party::B)
    EXPECT_EQ(peer_->next(wire::Message::kStart).start().job(), "late");
  else
    EXPECT_EQ(peers.jobs().status(*job).state, service::JobState::Queued);
}

// A job begins on material that no other one may still reserve, which is more than it takes itself:
// there is enough for one of them to do so.
TEST_F(JobLimitsTest, MaterialOfARunningJobIsForNoOther) {
  start_with_stock(Party::B, {}, {.low = 1000, .high = 100000});
  peer_->send_stock({1});
  expect_one_after_the_other();
}

// The peer may have less: enough for one of two jobs that this party could evaluate at a time.
TEST_F(JobLimitsTest, AndsOfARunningJobAreForNoOtherAtThePeer) {
  start_with_stock(Party::B, {}, {.low = 1000, .high = 250000});
  wire::Message claim = peer_->stock_of({1});
  claim.mutable_stock()->mutable_sessions(0)->set_ands(kShortAnds + kShortAnds / 2);
  peer_->send(claim);
  expect_one_after_the_other();
}

// Its client would be told that it has not begun, while its outputs are on their way.
TEST_F(JobLimitsTest, JobThatBeginsAtTheEndOfItsTimeIsNotGivenUp) {
  start_with_stock(Party::A, {}, {});
  b_->stop();
  LocalPeers peers(*b_, {.until_matched = std::chrono::seconds(0)});
  service::Peer& peer = peers.peer();
  service::Jobs& jobs = peers.jobs();
  peer_->connect();

  const service::SharedJob job = added(jobs, "late", Party::B);
  peer.submit(job);
  const std::vector<service::SharedJob> late = jobs.expire();
  ASSERT_EQ(late.size(), 1u);

  Gate gate;
  ScriptedPeer::Worker worker(*peer_, 1, 1, [&](const Outgoing& message) {
    if (message.tag == kMacDigest) gate.pass(message.ended);
  });
  peer_->send(peer_->next(wire::Message::kOffer));
  peer_->start_job("late");
  worker.begin("late", kShort);
  gate.wait_until_reached();
  ASSERT_EQ(jobs.status(*job).state, service::JobState::Running);
  peer.give_up(late.front());
  EXPECT_EQ(jobs.status(*job).state, service::JobState::Running);
  gate.open();
  EXPECT_TRUE(worker.end().is_done);
  EXPECT_TRUE(jobs.wait(*job, service::Jobs::Clock::now() + std::chrono::seconds(60)));
  EXPECT_EQ(jobs.status(*job).state, service::JobState::Done) << jobs.status(*job).error.message;
}

// Both parties' clients learn what it has waited for, and the peer is told.
TEST_F(JobLimitsTest, JobThatHasWaitedForTooLongEndsAtBoth) {
  make_with_scripted(Party::B, {}, {});
  LocalPeers peers(*a_, {});
  service::Jobs& jobs = peers.jobs();
  peer_->connect();
  const service::SharedJob queued = added(jobs, "queued", Party::A),
                           alone = added(jobs, "alone", Party::A);
  for (const service::SharedJob& job : {queued, alone}) peers.peer().submit(job);
  wire::Message offer;
  do {
    offer = peer_->next(wire::Message::kOffer);
  } while (offer.offer().job() != "queued");
  peer_->send(offer);
  wait_until_read();
  ASSERT_EQ(jobs.status(*queued).state, service::JobState::Queued);
  for (const auto& [job, reason] : {std::pair(queued, "no material or no free connection"),
                                    std::pair(alone, "the peer has not submitted the job")}) {
    peers.peer().give_up(job);
    const service::JobStatus status = jobs.status(*job);
    EXPECT_EQ(status.state, service::JobState::Failed);
    EXPECT_NE(status.error.message.find(reason), std::string::npos) << status.error.message;
    EXPECT_EQ(status.error.error_class, job == queued ? ErrorClass::Store : ErrorClass::Network);
    EXPECT_EQ(peer_->next(wire::Message::kWithdraw).withdraw().job(), job->id());
  }
}

// Its client is told that it was cancelled. It has been begun, and waits for the end of another one
// on its connection.
TEST_F(JobLimitsTest, JobThatIsCancelledBeforeItsTurnIsNotEvaluated) {
  start_with_stock(Party::A, {}, {});
  for (const std::string job : {"first", "second"}) queued(job);
  Gate gate;
  ScriptedPeer::Worker worker(*peer_, 1, 1, [&](const Outgoing& message) {
    if (message.tag == kMacDigest) gate.pass(message.ended);
  });
  peer_->start_job("first");
  worker.begin("first", kShort);
  gate.wait_until_reached();
  peer_->start_job("second");
  ASSERT_TRUE(becomes_true([&] { return state("second") == v1::RUNNING; }));
  ASSERT_TRUE(b_->client().cancel("second").ok());
  EXPECT_EQ(b_->client().result("second").job.state(), v1::CANCELLED);
  gate.open();
  EXPECT_TRUE(worker.end().is_done);
  EXPECT_EQ(b_->client().result("first").job.state(), v1::DONE);
  EXPECT_FALSE(worker.run("second", kShort).is_done);
}

// It is evaluated to its end, whatever becomes of the offers and of the link: as a job that waits
// it could be begun once more.
TEST_F(JobLimitsTest, RunningJobDoesNotWaitAgain) {
  start_with_stock(Party::A, {}, {});
  queued("job");
  Gate gate;
  ScriptedPeer::Worker worker(*peer_, 1, 1, [&](const Outgoing& message) {
    if (message.tag == kMacDigest) gate.pass(message.ended);
  });
  peer_->start_job("job");
  worker.begin("job", kShort);
  gate.wait_until_reached();
  peer_->withdraw("job");
  wait_until_read();
  EXPECT_EQ(state("job"), v1::RUNNING);
  peer_->connect();
  wait_until_read();
  EXPECT_EQ(state("job"), v1::RUNNING);
  gate.open();
  EXPECT_TRUE(worker.end().is_done);
  EXPECT_EQ(b_->client().result("job").job.state(), v1::DONE);
}

// On each link the peer says anew which jobs it wants.
TEST_F(JobLimitsTest, QueueOfAnEarlierLinkIsNotBegun) {
  start_with_stock(Party::B, {}, {});
  peer_->send_stock({});
  queued("before");
  peer_->connect();
  wire::Message offer;
  do {
    offer = peer_->next(wire::Message::kOffer);
  } while (offer.offer().job() != "before");
  peer_->send_stock({1});
  wait_until_read();
  EXPECT_EQ(state("before"), v1::WAITING_FOR_PEER);
  peer_->send(submitted("after", kShort));
  EXPECT_EQ(peer_->next(wire::Message::kStart).start().job(), "after");
  EXPECT_EQ(state("before"), v1::WAITING_FOR_PEER);
  peer_->send(offer);
  EXPECT_TRUE(becomes_true([&] { return state("before") >= v1::QUEUED; }));
}

// Offers are kept for jobs that wait, not for those that have been matched.
TEST_F(JobLimitsTest, OffersOfJobsThatNoLongerWaitTakeNoRoomAtTheLeader) {
  Setup setup;
  setup.daemon_a = "jobs_max: 3";
  make_with_scripted(Party::B, setup, {});
  a_->start();
  peer_->connect();
  peer_->send_stock({});
  for (const std::string job : {"one", "two", "three"}) {
    const wire::Message offer = queued(job);
    peer_->send(offer);
    wait_until_read();
    ASSERT_TRUE(a_->client().cancel(job).ok());
    EXPECT_EQ(a_->client().result(job).job.state(), v1::CANCELLED);
  }
  queued("four");
}

TEST_F(JobLimitsTest, OffersOfCancelledJobsTakeNoRoomAtTheFollower) {
  Setup setup;
  setup.daemon_b = "jobs_max: 3";
  make_with_scripted(Party::A, setup, {});
  b_->start();
  peer_->connect();
  for (const std::string job : {"one", "two", "three"}) {
    queued(job);
    ASSERT_TRUE(b_->client().cancel(job).ok());
    EXPECT_EQ(b_->client().result(job).job.state(), v1::CANCELLED);
  }
  queued("four");
}

}  // namespace
}  // namespace tinyot::test
