// A job begins with the peer that its client has named, and only while that peer offers it.
#include "base/error.h"
#include "tests/service/scripted_peer.h"

namespace tinyot::test {
namespace {

constexpr const char* kCircuit = "millionaires";

// In both roles of the scripted peer.
class OffersTest : public ScriptedPeerTest, public ::testing::WithParamInterface<Party> {
 protected:
  // The honest daemon has two peers. That of carol is not running.
  void SetUp() override {
    Setup setup;
    const bool leads = GetParam() == Party::B;
    (leads ? setup.other_peers_a : setup.other_peers_b) =
        std::string("\npeer { name: 'carol' party: ") + (leads ? "A listen" : "B connect") +
        ": '127.0.0.1:" + reserved_port() +
        "' POLICY profile: 'fast' low { ands: 20000 } high { ands: 60000 } }";
    make_with_scripted(GetParam(), setup, {});
    honest().start();
    peer_->connect();
  }
  // What the scripted peer would offer under this id.
  wire::Message offer_of(const std::string& job) {
    wire::Message offer = submitted("own", kCircuit);
    offer.mutable_offer()->set_job(job);
    return offer;
  }
};

INSTANTIATE_TEST_SUITE_P(ScriptedAs, OffersTest, ::testing::Values(Party::A, Party::B),
                         [](const auto& party) { return std::string(1, letter(party.param)); });

// Though it names the same job with the same terms.
TEST_P(OffersTest, PeerNeitherBeginsNorEndsJobOfAnother) {
  submit("carols", kCircuit, "carol");
  peer_->send(offer_of("carols"));
  if (GetParam() == Party::A) {
    peer_->start_job("carols");
    EXPECT_NE(peer_->refusal("carols").find("has not been submitted"), std::string::npos);
  }
  peer_->refuse("carols");
  peer_->withdraw("carols");
  wait_until_read();
  EXPECT_EQ(state("carols"), v1::WAITING_FOR_PEER);
}

TEST_P(OffersTest, WithdrawnOfferIsNotTakenUp) {
  peer_->send(offer_of("later"));
  peer_->withdraw("later");
  wait_until_read();
  submit("later", kCircuit, peer_name());
  EXPECT_EQ(state("later"), v1::WAITING_FOR_PEER);
}

TEST_P(OffersTest, WithdrawnOfferLeavesTheQueue) {
  peer_->send(submitted("job", kCircuit));
  ASSERT_TRUE(becomes_true([&] { return state("job") == v1::QUEUED; }));
  peer_->withdraw("job");
  wait_until_read();
  EXPECT_EQ(state("job"), v1::WAITING_FOR_PEER);
}

TEST_P(OffersTest, OfferOfAnEarlierLinkIsNotTakenUp) {
  peer_->send(offer_of("later"));
  wait_until_read();
  peer_->connect();
  wait_until_read();
  submit("later", kCircuit, peer_name());
  EXPECT_EQ(state("later"), v1::WAITING_FOR_PEER);
}

TEST_P(OffersTest, OfferBeforeTheJobIsTakenUp) {
  peer_->send(offer_of("later"));
  wait_until_read();
  submit("later", kCircuit, peer_name());
  EXPECT_EQ(state("later"), v1::QUEUED);
}

// Its job would stay in the queue there.
TEST_P(OffersTest, PeerIsToldThatAJobIsCancelled) {
  (void)submitted("job", kCircuit);
  ASSERT_TRUE(honest().client().cancel("job").ok());
  EXPECT_EQ(peer_->next(wire::Message::kWithdraw).withdraw().job(), "job");
}

// What the leading party alone sends, and what the other one alone answers.
std::vector<wire::Message> messages_of(Party party) {
  std::vector<wire::Message> messages;
  if (party == Party::A) {
    wire::Start& start = *messages.emplace_back().mutable_start();
    start.set_job("job");
    start.set_group(1);
    start.set_session(1);
    messages.emplace_back().mutable_prepare()->set_group(2);
    messages.emplace_back().mutable_refill()->set_group(3);
  } else {
    messages.emplace_back().mutable_prepare_answer();
    messages.emplace_back().mutable_refill_answer();
  }
  return messages;
}

TEST_P(OffersTest, MessageOfTheOtherRoleEndsTheLink) {
  const wire::Message offer = submitted("job", kCircuit);
  for (const wire::Message& message : messages_of(peer_of(GetParam()))) {
    peer_->send(offer);
    ASSERT_TRUE(becomes_true([&] { return state("job") == v1::QUEUED; }));
    peer_->send(message);
    EXPECT_THROW(peer_->next(wire::Message::BODY_NOT_SET), NetworkError);
    EXPECT_FALSE(peer_->has_lost_patience()) << message.ShortDebugString();
    EXPECT_TRUE(becomes_true([&] { return state("job") == v1::WAITING_FOR_PEER; }));
    peer_->connect();
  }
}

// A daemon that was killed as the job began offers it again, and would wait for a job that has
// failed.
class RepeatedOfferTest : public ScriptedPeerTest, public ::testing::WithParamInterface<Party> {};

INSTANTIATE_TEST_SUITE_P(ScriptedAs, RepeatedOfferTest, ::testing::Values(Party::A, Party::B),
                         [](const auto& party) { return std::string(1, letter(party.param)); });

TEST_P(RepeatedOfferTest, OfferOfAJobThatFailsIsRefused) {
  start_with_stock(GetParam(), {}, {});
  peer_->send_stock({1});
  const wire::Message offer = submitted("job", kCircuit);
  peer_->send(offer);
  std::uint64_t group = 1;
  if (GetParam() == Party::A)
    peer_->start_job("job");
  else
    group = peer_->next(wire::Message::kStart).start().group();
  Gate gate;
  ScriptedPeer::Worker worker(*peer_, group, 1, [&](const Outgoing& message) {
    if (message.tag != kMacDigest) return;
    gate.pass(message.ended);
    throw NetworkError("the connection ends here");
  });
  worker.begin("job", kCircuit);
  gate.wait_until_reached();
  peer_->send(offer);
  wait_until_read();
  EXPECT_EQ(state("job"), v1::RUNNING);
  gate.open();
  EXPECT_NE(peer_->refusal("job").find("has ended at the other party"), std::string::npos);
  EXPECT_EQ(honest().client().result("job").job.state(), v1::FAILED);
}

// The peer's client has submitted it late, and would wait for what is over.
TEST_P(RepeatedOfferTest, OfferOfAJobThatHasEndedIsRefused) {
  start_with_stock(GetParam(), {}, {});
  const wire::Message offer = submitted("job", kCircuit);
  ASSERT_TRUE(honest().client().cancel("job").ok());
  peer_->send(offer);
  EXPECT_NE(peer_->refusal("job").find("has ended at the other party"), std::string::npos);
  EXPECT_EQ(state("job"), v1::CANCELLED);
}

}  // namespace
}  // namespace tinyot::test
