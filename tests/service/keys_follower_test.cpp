// Keys of the party that does not lead: the other one, a program of the attacker, begins the steps.
#include <thread>

#include "base/error.h"
#include "keys_of_one_party.h"
#include "service/configuration.h"

namespace tinyot::test {
namespace {

using service::KeyTerms;
namespace config = service::config;

class KeysFollowerTest : public KeysTest {
 protected:
  KeysFollowerTest() : KeysTest(Party::B) {}

  // Why the leading party's start of a request is refused. There is no session, so that none is
  // evaluated.
  std::string refusal_to_begin(const custody::RequestId& request) {
    wire::Message message;
    message.mutable_key_start()->set_request(bytes_of(request));
    return refusal_of_start(std::move(message));
  }
  std::string refusal_to_settle(const std::string& key) {
    wire::Message message;
    custody::put_bytes(id_of(key).bytes, *message.mutable_key_start()->mutable_key());
    return refusal_of_start(std::move(message));
  }
  // Of a request of the peer's, which is taken up.
  custody::RequestId accepted(const service::AskedKey& of_peer) {
    EXPECT_TRUE(is_accepted(message_of(of_peer)));
    return of_peer.terms.request;
  }

 private:
  std::string refusal_of_start(wire::Message message) {
    message.mutable_key_start()->set_group(1);
    message.mutable_key_start()->set_session(1);
    peer_->send(message);
    return peer_->next(wire::Message::kKeyEnd).key_end().reason();
  }
};

constexpr const char* kNoSession = "there is no such session, or it has been retired";

// Its log would have a result for which it has no answer of the peer.
TEST_F(KeysFollowerTest, BeginsNoRequestThatThePeerHasNotAnswered) {
  make_parties();
  open();
  auto asked = ask(create_terms("new"));
  const custody::RequestId request = next_request();
  EXPECT_EQ(refusal_to_begin(request), "there is no such request, or it does not wait");
  EXPECT_EQ(refusal_to_begin(service::random_request()),
            "there is no such request, or it does not wait");
  EXPECT_EQ(keys().counts().requests, 1u) << "the peer may still answer";
  end(request);
  EXPECT_EQ(failure_of(std::move(asked)), "alice: no more");
}

// What has changed since it was taken up counts: the policy, the key, the time.
TEST_F(KeysFollowerTest, BeginsNothingThatIsNoLongerAllowed) {
  make_parties();
  const std::string key = stored("data"), other = stored("other");
  open();
  const auto use_of = [&](const std::string& of) {
    return accepted(asked(use_terms(config::ENCRYPT, of, 4)));
  };
  EXPECT_EQ(refusal_to_begin(use_of(key)), kNoSession) << "all is as it was";
  const custody::RequestId of_key = use_of(key), of_other = use_of(other);
  (void)keys().suspend(officer(), id_of(other));
  EXPECT_EQ(refusal_to_begin(of_other), "key " + other + " is suspended, and does not encrypt");
  service::AskedKey late = asked(use_terms(config::ENCRYPT, key, 4));
  late.expires = late.begun + std::chrono::milliseconds(500);
  const custody::RequestId too_late = accepted(late);
  std::this_thread::sleep_until(late.expires);
  EXPECT_EQ(refusal_to_begin(too_late), "it has expired");
  keys().set_policy(service::KeyPolicy({}));
  const std::string refused = refusal_to_begin(of_key);
  EXPECT_NE(refused.find("the key policy has no rule"), std::string::npos) << refused;
}

// By another rule, the caller's nonces may be those of both.
TEST_F(KeysFollowerTest, BeginsNothingThatBothPartiesSealSince) {
  CustodySetup setup;
  setup.policy_b = "allow { peer: true key: '*' may: [ENCRYPT] }\n";
  make_parties(setup);
  custody::KeyRecord record = new_record("data");
  record.attributes.nonces = custody::NonceMode::Caller;
  change_files([&](custody::KeyFiles& files) { store(files, record); });
  open();
  KeyTerms terms = use_terms(config::ENCRYPT, custody::text_of(record.attributes.id), 4);
  terms.nonce.emplace();
  const custody::RequestId request = accepted(asked(terms));
  write_policy("B", setup.policy_b + "allow { user: 'ME' key: '*' may: [DECRYPT] }\n");
  keys().set_policy(service::KeyPolicy(service::read_key_policy(policy_of("B"))));
  const std::string refused = refusal_to_begin(request);
  EXPECT_NE(refused.find("allows both parties"), std::string::npos) << refused;
}

// Each time takes material.
TEST_F(KeysFollowerTest, SettlesAKeySoOften) {
  make_parties();
  const std::string key = stored("data"), other = stored("other");
  open();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(refusal_to_settle(key), kNoSession);
  EXPECT_EQ(refusal_to_settle(key), "the key was settled a moment ago");
  EXPECT_EQ(refusal_to_settle(other), kNoSession) << "each key has its own times";
  EXPECT_EQ(refusal_to_settle(std::string(32, '7')), "neither party has such a key");
}

// Until officers resume them.
TEST_F(KeysFollowerTest, BeginsNothingAfterACheckHasFailed) {
  make_parties();
  const std::string key = stored("data");
  open();
  keys().peer_cheated();
  EXPECT_EQ(refusal_to_settle(key), "keys are suspended, since a check has failed");
  EXPECT_EQ(refusal_of(message_of(asked(use_terms(config::ENCRYPT, key, 4)))),
            "a check with the other party has failed, so its keys are suspended");
  const std::string own = failure_of(ask(use_terms(config::ENCRYPT, key, 4), payload_of(4)));
  EXPECT_NE(own.find("alice has failed a check"), std::string::npos) << own;
  keys().resume_peer(call());
  EXPECT_EQ(refusal_to_settle(key), kNoSession);
}

}  // namespace
}  // namespace tinyot::test
