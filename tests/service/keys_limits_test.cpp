// What a party takes up of requests for keys: how many, how often, of whom, and for how long.
#include "base/error.h"
#include "keys_of_one_party.h"

namespace tinyot::test {
namespace {

using service::KeyTerms;
using Calls = std::vector<std::future<service::KeyResult>>;
namespace config = service::config;

constexpr const char* kPeerWaits = "allow { peer: true key: '*' may: [ENCRYPT] approval: true }\n";

class KeysLimitsTest : public KeysTest {};

// Its number is used up, whatever has become of it.
TEST_F(KeysLimitsTest, ARequestThatHasEndedIsNotTakenUpAgain) {
  make_parties();
  const std::string key = stored("data");
  open();
  const KeyTerms terms = use_terms(config::ENCRYPT, key, 4);
  const wire::Message message = message_of(asked(terms));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(is_accepted(message), i == 0);
    end(terms.request);
  }
  EXPECT_EQ(refusal_of(message), "there was a request with this number before");
  EXPECT_EQ(lines_with("\"event\":\"begin\""), 1u);
}

// Either party fills its own places alone.
TEST_F(KeysLimitsTest, ThePeerHasSoManyRequests) {
  CustodySetup setup;
  setup.policy_a = std::string(kPeerWaits) + "allow { user: 'ME' key: '*' may: [CREATE] }\n";
  make_parties(setup);
  const std::string key = stored("data");
  open();
  const auto one_more = [&] { return message_of(asked(use_terms(config::ENCRYPT, key, 4))); };
  for (int i = 0; i < 256; ++i) peer_->send(one_more());
  for (int i = 0; i < 256; ++i) (void)peer_->next(wire::Message::kKeyWaits);
  EXPECT_EQ(refusal_of(one_more()), "there are 256 requests of this party already");
  auto own = ask(create_terms("own"));
  end(next_request());
  EXPECT_EQ(failure_of(std::move(own)), "bob: no more");
}

// What the peer calls its clients takes no places of those that are called so here.
TEST_F(KeysLimitsTest, ClientsOfThePeerTakeNoPlacesOfThisPartysClients) {
  CustodySetup setup;
  setup.policy_a = std::string(kPeerWaits) + "allow { user: '1' key: '*' may: [ENCRYPT] }\n";
  make_parties(setup);
  const std::string key = stored("data");
  open();
  for (int i = 0; i < 64; ++i) {
    service::AskedKey of_peer = asked(use_terms(config::ENCRYPT, key, 4));
    of_peer.client = service::text_of(call_of(1).caller);
    peer_->send(message_of(of_peer));
    (void)peer_->next(wire::Message::kKeyWaits);
  }
  auto own = ask_by(call_of(1), use_terms(config::ENCRYPT, key, 4), payload_of(4));
  end(next_request());
  EXPECT_EQ(failure_of(std::move(own)), "bob: no more");
}

// One client has a part of them; all clients together have as many as the peer.
TEST_F(KeysLimitsTest, ClientsHaveSoManyRequests) {
  CustodySetup setup;
  setup.policy_a =
      "allow { user: '1' user: '2' user: '3' user: '4' user: '5' key: '*' may: [ENCRYPT]\n"
      "  approval: true }\n"
      "allow { peer: true key: '*' may: [ENCRYPT] }\n";
  setup.custody_a = "approval_timeout_s: 100";
  make_parties(setup);
  const std::string key = stored("data");
  open();
  Calls calls;
  const auto ask_as = [&](uid_t user) {
    return ask_by(call_of(user), use_terms(config::ENCRYPT, key, 4), payload_of(4));
  };
  for (const uid_t user : {1, 2, 3, 4}) {
    const std::size_t before = calls.size();
    for (int i = 0; i < 64; ++i) calls.push_back(ask_as(user));
    ASSERT_TRUE(becomes_true([&] { return keys().approvals().size() == before + 64; }));
    if (user == 1) {
      EXPECT_EQ(failure_of(ask_as(1)), "there are 64 requests of this client already: try again");
    }
  }
  EXPECT_EQ(failure_of(ask_as(5)), "there are 256 requests of this party already: try again");
  EXPECT_TRUE(is_accepted(message_of(asked(use_terms(config::ENCRYPT, key, 4)))));
  peers_->peer().stop_beginning();
  for (auto& waiting : calls)
    EXPECT_EQ(failure_of(std::move(waiting)), "the daemon is stopping: repeat the request");
}

// Those that it has begun and not finished take room on the disk, and material to settle.
TEST_F(KeysLimitsTest, ThePeerLeavesSoManyKeysUnsettled) {
  make_parties();
  change_files([](custody::KeyFiles& files) {
    files.store_epoch(files.begin_link(), new_record("pending"), {1, {}}, custody::Share(16));
  });
  open();
  std::vector<KeyTerms> accepted;
  for (int i = 0; i < 15; ++i) {
    accepted.push_back(create_terms("key-" + std::to_string(i)));
    EXPECT_TRUE(is_accepted(message_of(asked(accepted.back())))) << i;
  }
  EXPECT_EQ(refusal_of(message_of(asked(create_terms("more")))),
            "too many keys are not settled yet");
  end(accepted.front().request);
  EXPECT_TRUE(is_accepted(message_of(asked(create_terms("more")))));
}

// Each has some memory here.
TEST_F(KeysLimitsTest, ThePeerTellsOfSoManyKeys) {
  CustodySetup setup;
  setup.custody_a = "keys_max: 2";
  make_parties(setup);
  const std::string key = stored("data");
  open();
  say(key, have_);
  for (const char digit : {'1', '2', '3'}) say(std::string(32, digit), have_);
  say(std::string(32, '1'), have_);
  EXPECT_TRUE(is_accepted(message_of(asked(use_terms(config::ENCRYPT, key, 4)))));
  say(std::string(32, '4'), have_);
  expect_link_ends();
}

// Nonces that are drawn do not repeat so often; what was sealed is still opened.
TEST_F(KeysLimitsTest, AKeyEncryptsSoOften) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 32;
  make_parties();
  const std::string key = stored("data");
  change_files([&](custody::KeyFiles& files) { files.raise_use_bound(id_of(key), kMost - 1); });
  open();
  const auto is_taken_up = [&](config::KeyOperation operation) {
    return is_accepted(message_of(asked(use_terms(operation, key, 4))));
  };
  EXPECT_TRUE(is_taken_up(config::ENCRYPT)) << "the last one";
  EXPECT_EQ(record(key).use_bound, kMost - 1 + 1024) << "on the disk before it is used";
  const std::string why =
      "key " + key + " has been used 2^32 times, as often as nonces allow: rotate it";
  EXPECT_EQ(refusal_of(message_of(asked(use_terms(config::ENCRYPT, key, 4)))), why);
  EXPECT_EQ(failure_of(ask(use_terms(config::ENCRYPT, key, 4), payload_of(4))), why);
  EXPECT_TRUE(is_taken_up(config::DECRYPT));
}

// Who chooses nonces can open what the other party seals, and forge.
TEST_F(KeysLimitsTest, OnePartyAloneSealsWithNoncesOfItsChoice) {
  CustodySetup setup;
  setup.policy_a =
      "allow { peer: true key: '*' may: [ENCRYPT] }\n"
      "allow { user: 'ME' key: '*' may: [DECRYPT] }\n";
  make_parties(setup);
  custody::KeyRecord record = new_record("data");
  record.attributes.nonces = custody::NonceMode::Caller;
  change_files([&](custody::KeyFiles& files) { store(files, record); });
  const std::string key = custody::text_of(record.attributes.id);
  open();
  KeyTerms encrypt = use_terms(config::ENCRYPT, key, 4);
  encrypt.nonce.emplace();
  const std::string why = "the key policy allows both parties to encrypt or decrypt with it";
  const std::string to_peer = refusal_of(message_of(asked(encrypt)));
  EXPECT_NE(to_peer.find(why), std::string::npos) << to_peer;
  service::KeyPayload sealed = payload_of(4);
  sealed.use.tag.resize(16);
  const std::string to_client =
      failure_of(ask(use_terms(config::DECRYPT, key, 4), std::move(sealed)));
  EXPECT_NE(to_client.find(why), std::string::npos) << to_client;
  EXPECT_EQ(lines_with("\"event\":\"begin\""), 0u);
}

// It would go on without the officer for whom it waits.
TEST_F(KeysLimitsTest, ThePeerDoesNotAnswerItsOwnRequest) {
  CustodySetup setup;
  setup.policy_a = kPeerWaits;
  make_parties(setup);
  const std::string key = stored("data");
  open();
  const KeyTerms terms = use_terms(config::ENCRYPT, key, 4);
  const wire::Message request = message_of(asked(terms));
  peer_->send(request);
  (void)peer_->next(wire::Message::kKeyWaits);
  service::SignedMessage said;
  const auto bytes = std::as_bytes(std::span(request.key_request().said()));
  said.message.assign(bytes.begin(), bytes.end());
  for (const bool is_accepted : {true, false}) {
    service::AnsweredKey answered;
    answered.request = terms.request;
    answered.is_accepted = is_accepted;
    answered.head.sequence = 1;
    wire::Message answer;
    *answer.mutable_key_answer() = service::message_of(answered, said, parties_, identity_.value());
    peer_->send(answer);
    // It has been read once the next has an answer.
    EXPECT_FALSE(refusal_of(request).empty());
    EXPECT_EQ(keys().approvals().size(), 1u);
  }
  EXPECT_EQ(lines_with("\"event\":\"begin\""), 0u);
}

// The peer says until when it waits, and officers here have no longer than this party gives them.
TEST_F(KeysLimitsTest, ARequestOfThePeerWaitsAsLongAsThisPartySays) {
  CustodySetup setup;
  setup.policy_a = kPeerWaits;
  setup.custody_a = "approval_timeout_s: 1";
  make_parties(setup);
  const std::string key = stored("data");
  open();
  const KeyTerms terms = use_terms(config::ENCRYPT, key, 4);
  const auto begun = service::Keys::Clock::now();
  peer_->send(message_of(asked(terms)));
  (void)peer_->next(wire::Message::kKeyWaits);
  ASSERT_EQ(keys().approvals().size(), 1u);
  EXPECT_LE(keys().approvals().at(0).expires,
            service::Keys::Clock::now() + std::chrono::seconds(1));
  EXPECT_TRUE(becomes_true(
      [&] {
        peers_->peer().keep_up();
        return keys().approvals().empty();
      },
      std::chrono::seconds(20)));
  EXPECT_GE(service::Keys::Clock::now(), begun + std::chrono::seconds(1));
  const wire::KeyEnd ended = peer_->next(wire::Message::kKeyEnd).key_end();
  EXPECT_EQ(ended.request(), bytes_of(terms.request));
  EXPECT_EQ(ended.reason(), "it has expired");
}

// Officers of the peer have the time that they were given, and not that of an evaluation.
TEST_F(KeysLimitsTest, ARequestWaitsAsLongAsThePeersOfficersMayTake) {
  CustodySetup setup;
  setup.custody_a = "request_timeout_s: 1 approval_timeout_s: 25";
  make_parties(setup);
  open();
  auto asked = ask(create_terms("new"));
  const custody::RequestId request = next_request();
  wire::Message waits;
  waits.mutable_key_waits()->set_request(bytes_of(request));
  peer_->send(waits);
  EXPECT_EQ(asked.wait_for(std::chrono::milliseconds(1500)), std::future_status::timeout);
  end(request);
  EXPECT_EQ(failure_of(std::move(asked)), "bob: no more");
  EXPECT_EQ(failure_of(ask(create_terms("other"))),
            "bob did not answer in time: its officers may have to approve it");
}

// Nobody answers any more.
TEST_F(KeysLimitsTest, CallsEndWithTheLink) {
  make_parties();
  const std::string key = stored("data");
  open();
  auto asked = ask(create_terms("new"));
  (void)next_request();
  auto certificate = std::async(std::launch::async, [&] { return keys().certificate(id_of(key)); });
  (void)peer_->next(wire::Message::kKeyCertificate);
  peer_.reset();
  const std::string why = "the link with bob has ended: repeat the request";
  EXPECT_EQ(failure_of(std::move(asked)), why);
  EXPECT_EQ(failure_of(std::move(certificate)), why);
  EXPECT_EQ(failure_of(ask(create_terms("later"))), "bob is not connected");
}

// The peer would refuse it without a word, since nothing that is malformed has an answer.
TEST_F(KeysLimitsTest, ClientsShowNoMoreThanARequestMayHave) {
  make_parties();
  const std::string key = stored("data");
  custody::KeyRecord root = new_record("root");
  root.attributes.key_class = custody::KeyClass::Kdf;
  change_files([&](custody::KeyFiles& files) { store(files, root); });
  open();
  const auto encrypt = [&](std::size_t shown) {
    KeyTerms terms = use_terms(config::ENCRYPT, key, 4);
    terms.shown_aad.emplace(shown);
    terms.aad_bytes = static_cast<std::uint32_t>(shown);
    return ask(std::move(terms), payload_of(4));
  };
  const auto derive = [&](std::size_t context) {
    KeyTerms terms = create_terms("child");
    terms.operation = config::DERIVE;
    terms.context.resize(context);
    terms.attributes->key_class = custody::KeyClass::Mac;
    terms.attributes->algorithm = custody::KeyAlgorithm::Aes128;
    terms.attributes->origin = custody::KeyOrigin::Derived;
    terms.attributes->parent = root.attributes.id;
    terms.key = custody::Custodian::derived_id(*terms.attributes, terms.context);
    terms.attributes->id = terms.key;
    return ask(std::move(terms));
  };
  EXPECT_EQ(failure_of(encrypt(service::kShownBytesMax + 1)),
            "associated data that is shown has at most 16384 bytes");
  EXPECT_EQ(failure_of(derive(service::kContextBytesMax + 1)),
            "the context of a derivation has at most 1024 bytes");
  auto derived = derive(16);
  end(next_request());
  EXPECT_EQ(failure_of(std::move(derived)), "bob: no more");
}

// Whoever may not use a key learns nothing of its state.
TEST_F(KeysLimitsTest, AClientWithoutARuleIsToldOfThePolicyAlone) {
  make_parties();
  const std::string key = stored("data");
  open();
  (void)keys().suspend(officer(), id_of(key));
  const auto failure = [&](uid_t user) {
    return failure_of(ask_by(call_of(user), use_terms(config::ENCRYPT, key, 4), payload_of(4)));
  };
  EXPECT_NE(failure(::getuid()).find("is suspended"), std::string::npos);
  const std::string other = failure(::getuid() + 1);
  EXPECT_EQ(other.find("is suspended"), std::string::npos) << other;
  EXPECT_NE(other.find("the key policy has no rule"), std::string::npos) << other;
}

// A statement is of the TLS keys that the parties have now.
TEST_F(KeysLimitsTest, AKeyThatIsBoundToAFormerTlsKeyIsNotCertified) {
  make_parties();
  const custody::KeyRecord record = new_record("data");
  change_files(
      net::text_of(parties_.own), [&](custody::KeyFiles& files) { store(files, record); },
      "sha256:former");
  open();
  const service::SignedMessage said = service::signed_statement(
      service::statement_of(record, std::chrono::system_clock::now()), parties_, *identity_);
  wire::Message question;
  wire::KeyCertificate& to = *question.mutable_key_certificate();
  custody::put_bytes(record.attributes.id.bytes, *to.mutable_key());
  custody::put_bytes(said.message, *to.mutable_said());
  custody::put_bytes(said.signature.public_key, *to.mutable_public_key());
  custody::put_bytes(said.signature.bytes, *to.mutable_signature());
  const auto answer = [&] {
    peer_->send(question);
    return peer_->next(wire::Message::kKeyCertificate).key_certificate();
  };
  const wire::KeyCertificate refused = answer();
  EXPECT_TRUE(refused.said().empty());
  EXPECT_NE(refused.reason().find("is bound to a former TLS key"), std::string::npos)
      << refused.reason();
  (void)keys().rebind(call(), {});
  EXPECT_EQ(answer().reason(), "");
}

}  // namespace
}  // namespace tinyot::test
