// A peer that leads and does not keep to the protocol of daemons.
#include <functional>

#include "base/error.h"
#include "engine/loaded_circuit.h"
#include "tests/service/scripted_peer.h"

namespace tinyot::test {
namespace {

// Leads, as party A, the daemon of party B.
class CheatingLeaderTest : public ScriptedPeerTest {
 protected:
  void SetUp() override { start_with_stock(Party::A, {}, {}); }

  // After a message that is none, the link ends, and the daemon connects again.
  void expect_link_ends() {
    EXPECT_THROW(peer_->next(wire::Message::BODY_NOT_SET), NetworkError);
    EXPECT_FALSE(peer_->has_lost_patience());
    peer_->connect();
    EXPECT_TRUE(becomes_true([&] { return b_->client().peer().is_connected(); }));
  }
};

TEST_F(CheatingLeaderTest, BeginsWhatNoClientHasSubmitted) {
  peer_->start_job("none");
  EXPECT_NE(peer_->refusal("none").find("has not been submitted"), std::string::npos);
}

TEST_F(CheatingLeaderTest, BeginsWithoutOffer) {
  submitted("mine");
  peer_->start_job("mine");
  EXPECT_NE(peer_->refusal("mine").find("has not been submitted"), std::string::npos);
  EXPECT_EQ(b_->client().status("mine").state(), v1::WAITING_FOR_PEER);
}

TEST_F(CheatingLeaderTest, BeginsOnOtherTerms) {
  wire::Message offer = submitted("mine");
  peer_->send(offer);
  offer.mutable_offer()->mutable_terms()->set_lanes(2);
  peer_->send(offer);
  peer_->start_job("mine");
  EXPECT_NE(peer_->refusal("mine").find("different jobs"), std::string::npos);
  EXPECT_EQ(b_->client().status("mine").state(), v1::QUEUED);
}

TEST_F(CheatingLeaderTest, OffersOtherTerms) {
  wire::Message offer = submitted("mine");
  offer.mutable_offer()->mutable_terms()->set_lanes(2);
  peer_->send(offer);
  const v1::Job job = b_->client().result("mine").job;
  EXPECT_EQ(job.error().error_class(), v1::DISAGREEMENT);
  EXPECT_NE(job.error().message().find("lanes: this party has 1, the peer has 2"),
            std::string::npos);
}

// Another circuit under the name of this one.
TEST_F(CheatingLeaderTest, OffersAnotherCircuitUnderTheName) {
  wire::Message offer = submitted("mine");
  std::string& fingerprint = *offer.mutable_offer()->mutable_terms()->mutable_fingerprint();
  fingerprint.back() = fingerprint.back() == '0' ? '1' : '0';
  peer_->send(offer);
  const v1::Job job = b_->client().result("mine").job;
  EXPECT_EQ(job.error().error_class(), v1::DISAGREEMENT);
  EXPECT_NE(job.error().message().find("circuit's gates: this party has millionaires (built in"),
            std::string::npos)
      << job.error().message();
  EXPECT_EQ(b_->client().ands_left(), 60000u);
}

// The policy allows `millionaires` by its name. What the peer calls built in is judged by what this
// party's own client submits.
TEST_F(CheatingLeaderTest, CallsAFileBuiltIn) {
  const std::string file = "1 3\n2 1 1\n1 1\n2 1 0 1 2 AND\n";
  wire::Message offer = submitted("mine");
  wire::Terms& terms = *offer.mutable_offer()->mutable_terms();
  terms.set_fingerprint(
      text_of(engine::LoadedCircuit::from_text(file, "millionaires", {}, 1).fingerprint()));
  offer.mutable_offer()->set_job("other");
  peer_->send(offer);
  peer_->start_job("other");
  EXPECT_NE(peer_->refusal("other").find("has not been submitted"), std::string::npos);
  v1::SubmitRequest request;
  request.mutable_job()->set_id("other");
  request.mutable_job()->set_circuit("millionaires");
  request.mutable_job()->set_is_file(true);
  request.set_circuit_part(file);
  request.add_inputs()->set_name("1");
  request.mutable_inputs(0)->add_numbers("1");
  const grpc::Status status = b_->client().submit({request});
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_NE(status.error_message().find(terms.fingerprint()), std::string::npos)
      << status.error_message();
  EXPECT_EQ(b_->client().ands_left(), 60000u);
}

// The second evaluation would be with other inputs of the peer.
TEST_F(CheatingLeaderTest, BeginsTwice) {
  const wire::Message offer = submitted("twice");
  for (const std::uint32_t worker : {0u, 1u}) {
    peer_->send(offer);
    peer_->start_job("twice", worker);
  }
  EXPECT_NE(peer_->refusal("twice").find("no longer waits"), std::string::npos);
  EXPECT_EQ(b_->client().status("twice").state(), v1::RUNNING);
}

// A number that is not that of a session would make the daemon retire those that it has.
TEST_F(CheatingLeaderTest, BeginsInSessionThatThereIsNot) {
  peer_->send(submitted("mine"));
  wire::Message message;
  message.mutable_start()->set_job("mine");
  message.mutable_start()->set_group(1);
  message.mutable_start()->set_session(~std::uint64_t{0});
  peer_->send(message);
  EXPECT_NE(peer_->refusal("mine").find("no such session"), std::string::npos);
  EXPECT_EQ(b_->client().ands_left(), 60000u);
  message.Clear();
  message.mutable_refill()->set_group(1);
  message.mutable_refill()->set_session(~std::uint64_t{0});
  message.mutable_refill()->set_ands(60000);
  message.mutable_refill()->set_inputs(4774);
  peer_->send(message);
  EXPECT_FALSE(peer_->next(wire::Message::kRefillAnswer).refill_answer().begins());
}

TEST_F(CheatingLeaderTest, OffersWhatThePolicyForbids) {
  wire::Message offer = submitted("mine");
  offer.mutable_offer()->set_job("other");
  offer.mutable_offer()->mutable_terms()->set_circuit("millionaires:bits=65");
  peer_->send(offer);
  EXPECT_NE(peer_->refusal("other").find("no rule"), std::string::npos);
  EXPECT_EQ(b_->metric("tinyot_refusals_total{by=\"this_party\""), "1");
}

TEST_F(CheatingLeaderTest, RefillsMoreThanTheHighWatermark) {
  using Change = std::function<void(wire::Refill&)>;
  for (const Change& change :
       {Change([](wire::Refill& order) { order.set_ands(order.ands() + 1); }),
        Change([](wire::Refill& order) { order.set_inputs(order.inputs() + 1); }),
        Change([](wire::Refill& order) { order.set_inputs(order.inputs() - 1); }),
        // A connection for it would be none, or one of the link.
        Change([](wire::Refill& order) { order.set_group(0); }),
        Change([](wire::Refill& order) { order.set_group(service::StreamPort::kLinkBit | 7); })}) {
    wire::Refill order = peer_->refill_order(1);
    change(order);
    const wire::RefillAnswer answer = peer_->order(order);
    EXPECT_FALSE(answer.begins());
    EXPECT_EQ(answer.reason(), "the order is not that of a refill up to high");
  }
}

TEST_F(CheatingLeaderTest, SendsWhatItMayNot) {
  wire::Message answer;
  answer.mutable_refill_answer()->set_begins(true);
  peer_->send(answer);
  expect_link_ends();
  peer_->start_job("worker", 99);
  expect_link_ends();
  for (const std::uint64_t group : {std::uint64_t{0}, service::StreamPort::kLinkBit | 7}) {
    peer_->start_job("group", 0, group);
    expect_link_ends();
  }
  peer_->start_job("../name");
  expect_link_ends();
  wire::Message offer;
  offer.mutable_offer()->set_job("../name");
  peer_->send(offer);
  expect_link_ends();
}

}  // namespace
}  // namespace tinyot::test
