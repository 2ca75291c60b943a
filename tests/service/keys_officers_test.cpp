// What officers of one party decide about its keys, and what the audit log has of it.
#include <fstream>
#include <initializer_list>
#include <set>

#include "base/error.h"
#include "keys_of_one_party.h"
#include "service/key_calls.h"
#include "service/keys_socket.h"
#include "tests/service/socket_client.h"
#include "tests/support/small_disk.h"

namespace tinyot::test {
namespace {

using service::KeyTerms;
namespace config = service::config;

class KeysOfficersTest : public KeysTest {
 protected:
  // An operation that waits for officers.
  service::KeyQuorum::Waiting operation() {
    EXPECT_TRUE(becomes_true([&] { return !keys().operations().empty(); }));
    return keys().operations().at(0);
  }
  // A request that waits for an officer.
  service::Keys::Waiting request() {
    EXPECT_TRUE(becomes_true([&] { return !keys().approvals().empty(); }));
    return keys().approvals().at(0);
  }
  template <class Call>
  static auto begin(const Call& call) {
    return std::async(std::launch::async, call);
  }
  static std::string quorum(int officers) {
    return "approval_timeout_s: 25 quorum: " + std::to_string(officers);
  }
};

// Whoever can replace a TLS key of a party would have its keys, too.
TEST_F(KeysOfficersTest, KeysAreBoundByAQuorum) {
  CustodySetup setup;
  setup.custody_a = quorum(2);
  make_parties(setup);
  const std::string key = stored("data", "sha256:former");
  open();
  const std::string now = net::text_of(parties_.own), own = net::text_of(parties_.peer);
  auto bound = begin([&] { return keys().rebind(call(), {}); });
  const auto shown = operation();
  EXPECT_EQ(shown.step.operation, "rebind");
  EXPECT_FALSE(shown.step.key) << "all of them";
  EXPECT_EQ(shown.step.details, "this party has " + own + "; the peer " + now);
  EXPECT_FALSE(custody::is_bound(record(key)));
  keys().decide(officer(), shown.id, true);
  EXPECT_EQ(bound.get().size(), 1u);
  EXPECT_TRUE(custody::is_bound(record(key)));
  EXPECT_TRUE(is_in_audit_log("\"operation\":\"rebind\",\"key\":\"" + key +
                              "\",\"bytes\":0,\"aad_bytes\":0,\"outcome\":\"operation " +
                              hex_of(shown.id) + ", this party still " + own +
                              "; the peer sha256:former, now " + now + "\""))
      << audit_log();
  EXPECT_EQ(keys().rebind(call(), {}).size(), 1u) << "nothing is to be bound any more";
}

// The log would say that it was deactivated, which counts once it is resumed.
TEST_F(KeysOfficersTest, WhatIsSuspendedMeanwhileIsNotDeactivated) {
  CustodySetup setup;
  setup.custody_a = quorum(2);
  make_parties(setup);
  const std::string key = stored("data");
  open();
  const auto confirmed = [&](auto asked) {
    keys().decide(officer(), operation().id, true);
    return failure_of(std::move(asked));
  };
  auto asked = begin([&] { return keys().deactivate(call(), id_of(key)); });
  (void)operation();
  (void)keys().suspend(officer(), id_of(key));
  EXPECT_EQ(confirmed(std::move(asked)),
            "key " + key + " is suspended: only an active one is deactivated");
  EXPECT_EQ(confirmed(begin([&] { return keys().resume(call(), id_of(key)); })), "it is done");
  EXPECT_EQ(record(key).state, custody::KeyState::Active);
  EXPECT_FALSE(is_in_audit_log("\"operation\":\"deactivate\""));
}

// Nobody lets through alone what takes an officer.
TEST_F(KeysOfficersTest, WhoAsksDoesNotApproveIt) {
  CustodySetup setup;
  setup.policy_a = "allow { user: 'ME' key: '*' may: [CREATE] approval: true }\n";
  setup.custody_a = quorum(1);
  make_parties(setup);
  open();
  const KeyTerms terms = create_terms("new");
  auto asked = ask(terms);
  const custody::RequestId number = request().number;
  EXPECT_THROW(keys().decide(call().caller, number, true), service::KeyFailed);
  EXPECT_EQ(keys().approvals().size(), 1u);
  EXPECT_FALSE(is_in_audit_log("\"approve\""));
  const auto waited = std::chrono::system_clock::now();
  ASSERT_TRUE(becomes_true([&] {  // its number has the time in milliseconds
    return std::chrono::system_clock::now() > waited + std::chrono::milliseconds(1);
  }));
  keys().decide(officer(), number, true);
  const custody::RequestId begun = next_request();
  EXPECT_GT(service::time_of(begun), waited);
  end(begun);
  EXPECT_EQ(failure_of(std::move(asked)), "bob: no more");
  EXPECT_TRUE(is_in_audit_log(
      "\"client\":\"" + service::text_of(officer()) + "\",\"operation\":\"approve\",\"key\":\"" +
      custody::text_of(terms.key) + "\",\"bytes\":0,\"aad_bytes\":0,\"outcome\":\"request " +
      hex_of(begun) + "\""))
      << audit_log();
}

// The peer is told, and the log says who has denied which request.
TEST_F(KeysOfficersTest, ARequestOfThePeerIsDenied) {
  CustodySetup setup;
  setup.policy_a = "allow { peer: true key: '*' may: [ENCRYPT] approval: true }\n";
  make_parties(setup);
  const std::string key = stored("data");
  open();
  const KeyTerms terms = use_terms(config::ENCRYPT, key, 4);
  peer_->send(message_of(asked(terms)));
  (void)peer_->next(wire::Message::kKeyWaits);
  keys().decide(officer(), request().number, false);
  service::keys::Said said;
  ASSERT_TRUE(said.ParseFromString(peer_->next(wire::Message::kKeyAnswer).key_answer().said()));
  EXPECT_FALSE(said.answer().is_accepted());
  EXPECT_EQ(said.answer().reason(), "an officer of the other party denied it");
  EXPECT_TRUE(keys().approvals().empty());
  EXPECT_EQ(keys().counts().requests, 0u);
  EXPECT_FALSE(is_in_audit_log("\"begin\""));
  EXPECT_TRUE(is_in_audit_log(
      "\"client\":\"" + service::text_of(officer()) + "\",\"operation\":\"deny\",\"key\":\"" + key +
      "\",\"bytes\":0,\"aad_bytes\":0,\"outcome\":\"request " + hex_of(terms.request) + "\""))
      << audit_log();
}

// What the log has no room for is not done.
TEST_F(KeysOfficersTest, NothingIsDecidedThatIsNotInTheLog) {
  const std::filesystem::path audit = dir_ / "disk" / "audit.log",
                              filler = audit.parent_path() / "filler";
  const SmallDisk disk(audit.parent_path(), 1 << 20);
  if (!disk.is_mounted()) GTEST_SKIP() << "this process may not mount";
  CustodySetup setup;
  setup.policy_a = "allow { peer: true key: '*' may: [ENCRYPT] approval: true }\n";
  setup.custody_a = "audit_log: '" + audit.string() + "'";
  make_parties(setup);
  const std::string key = stored("data"), other = stored("other");
  open();
  peer_->send(message_of(asked(use_terms(config::ENCRYPT, key, 4))));
  (void)peer_->next(wire::Message::kKeyWaits);
  const custody::RequestId number = request().number;
  keys().peer_cheated();  // and so all that waits ends
  EXPECT_TRUE(keys().approvals().empty());
  keys().resume_peer(call());
  peer_->send(message_of(asked(use_terms(config::ENCRYPT, key, 4))));
  (void)peer_->next(wire::Message::kKeyWaits);
  const custody::RequestId waiting = request().number;
  EXPECT_NE(waiting, number);
  // Less room than for another line.
  std::ofstream(filler) << std::string(1 << 20, 'x');
  EXPECT_THROW(for (int i = 0; i < 1000; ++i)(void) keys().suspend(officer(), id_of(other)),
               StoreError);
  for (const bool is_approved : {true, false}) {
    EXPECT_THROW(keys().decide(officer(), waiting, is_approved), StoreError);
    EXPECT_EQ(keys().approvals().size(), 1u);
  }
  EXPECT_THROW((void)keys().destroy(call(), id_of(key)), StoreError);
  EXPECT_EQ(record(key).state, custody::KeyState::Active);
  keys().peer_cheated();
  EXPECT_THROW(keys().resume_peer(call()), StoreError);
  EXPECT_TRUE(keys().counts().has_peer_cheated);
  EXPECT_TRUE(std::filesystem::exists(file_in_custody("peer-cheated")));
  std::filesystem::remove(filler);
  keys().resume_peer(call());
  EXPECT_FALSE(keys().counts().has_peer_cheated);
  EXPECT_FALSE(std::filesystem::exists(file_in_custody("peer-cheated")));
  const std::string lines = read_file(audit), resumed = "\"operation\":\"resume_peer\"";
  EXPECT_NE(lines.find(resumed), lines.rfind(resumed));
}

// What is destroyed is shown to whoever asks for it; and to others than officers, the keys of their
// rules alone.
TEST_F(KeysOfficersTest, ListWhatTheyAskFor) {
  CustodySetup setup;
  setup.policy_a = "allow { user: '7' key: 'other' may: [ENCRYPT] }\n";
  make_parties(setup);
  const std::string data = stored("data"), other = stored("other"), old = stored("old");
  open();
  (void)keys().destroy(call(), id_of(old));
  const auto listed = [&](const service::KeyCall& by, bool all) {
    v1::ListKeysRequest request;
    request.set_all(all);
    v1::ListKeysReply reply;
    EXPECT_TRUE(service::KeyCalls(peers_->peers()).list(by, request, reply).ok());
    std::set<std::string> ids;
    for (const v1::Key& key : reply.keys()) ids.insert(key.id());
    return ids;
  };
  EXPECT_EQ(listed(call(), false), (std::set{data, other}));
  EXPECT_EQ(listed(call(), true), (std::set{data, other, old}));
  service::KeyCall client = call_of(7);
  client.is_officer = false;
  EXPECT_EQ(listed(client, true), std::set{other});
}

// They decide by what they see.
TEST_F(KeysOfficersTest, SeeWhatWaits) {
  CustodySetup setup;
  setup.policy_a = "allow { peer: true user: '7' key: '*' may: [ENCRYPT] approval: true }\n";
  setup.custody_a = quorum(2);
  make_parties(setup);
  const std::string data = stored("data"), other = stored("other");
  open();
  const auto shows = [](const std::string& key, std::uint32_t bytes, std::size_t shown,
                        KeyTerms terms) {
    terms.key = id_of(key);
    terms.bytes = bytes;
    terms.aad_bytes = static_cast<std::uint32_t>(shown);
    terms.shown_aad.emplace(shown, std::byte{'a'});
    return terms;
  };
  const auto before = service::Keys::Clock::now();
  const auto unix_ms = [](service::Keys::Clock::time_point time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
  };
  peer_->send(message_of(asked(shows(data, 5, 3, use_terms(config::ENCRYPT, data, 5)))));
  (void)peer_->next(wire::Message::kKeyWaits);
  auto own =
      ask_by(call_of(7), shows(other, 6, 2, use_terms(config::ENCRYPT, other, 6)), payload_of(6));
  ASSERT_TRUE(becomes_true([&] { return keys().approvals().size() == 2; }));
  auto destroyed = begin([&] { return keys().destroy(call(), id_of(data)); });
  (void)operation();
  v1::ApprovalsReply reply;
  const service::KeyCalls calls(peers_->peers());
  ASSERT_TRUE(calls.approvals(call(), {}, reply).ok());
  const auto after = service::Keys::Clock::now();
  ASSERT_EQ(reply.approvals_size(), 3);
  const bool is_peers_first = !reply.approvals(0).is_own();
  const v1::Approval &of_peer = reply.approvals(is_peers_first ? 0 : 1),
                     &of_client = reply.approvals(is_peers_first ? 1 : 0),
                     &of_officers = reply.approvals(2);
  const auto expect_shown = [&](const v1::Approval& shown, const std::string& client, bool is_own,
                                const std::string& operation, const std::string& key,
                                const std::string& label, std::uint64_t bytes,
                                std::uint64_t aad_bytes) {
    EXPECT_EQ(shown.request().size(), 32u);
    EXPECT_EQ(shown.peer(), "bob");
    EXPECT_EQ(shown.client(), client);
    EXPECT_EQ(shown.is_own(), is_own);
    EXPECT_EQ(shown.operation(), operation);
    EXPECT_EQ(shown.key(), key);
    EXPECT_EQ(shown.label(), label);
    EXPECT_EQ(shown.bytes(), bytes);
    EXPECT_EQ(shown.aad_bytes(), aad_bytes);
    EXPECT_EQ(shown.shown_aad(), std::string(aad_bytes, 'a'));
    EXPECT_GE(shown.expires_unix_ms(), unix_ms(before + std::chrono::seconds(25)));
    EXPECT_LE(shown.expires_unix_ms(), unix_ms(after + std::chrono::seconds(25)));
  };
  expect_shown(of_peer, "hostile", false, "encrypt", data, "data", 5, 3);
  EXPECT_EQ(of_peer.details(), "aead aes128, joint nonces");
  expect_shown(of_client, service::text_of(call_of(7).caller), true, "encrypt", other, "other", 6,
               2);
  const std::string who = service::text_of(call().caller);
  expect_shown(of_officers, who, true, "destroy", data, "data", 0, 0);
  EXPECT_EQ(of_officers.quorum(), 2u);
  ASSERT_EQ(of_officers.officers_size(), 1);
  EXPECT_EQ(of_officers.officers(0), who);
  // As the alert counts them.
  EXPECT_EQ(keys().counts().approvals, 3u);
  EXPECT_EQ(keys().counts().requests, 2u);
  peers_->peer().stop_beginning();
  for (const auto& failure : {failure_of(std::move(own)), failure_of(std::move(destroyed))})
    EXPECT_EQ(failure, "the daemon is stopping: repeat the request");
}

// On the socket of PKCS#11, a right that the configuration takes away is none of connections that
// are open, either: an officer sees all keys, others those that rules name for them.
TEST_F(KeysOfficersTest, WhoIsNoOfficerAnyMoreSeesNoMoreKeysOnAnOpenConnection) {
  CustodySetup setup;
  setup.policy_a = "allow { peer: true key: '*' may: [SIGN] }\n";
  make_parties(setup);
  (void)stored("data");
  open();
  const auto rules = [](std::initializer_list<config::Right> rights) {
    config::Daemon daemon;
    config::Access& entry = *daemon.add_access();
    entry.add_user(std::to_string(::getuid()));
    for (const config::Right right : rights) entry.add_may(right);
    return service::AccessRules(daemon);
  };
  service::Access access(rules({config::USE_KEYS, config::MANAGE_KEYS}));
  const service::KeyCalls calls(peers_->peers());
  const std::filesystem::path file = dir_ / "socket";
  const service::KeysSocket server(file, 0600, 1, calls, access);
  const system::Descriptor client = client_of_socket(file);
  const auto keys_listed = [&] {
    send_bytes(client, framed_list());
    const std::optional<v1::SocketReply> reply = reply_from(client);
    if (!reply) return -1;
    EXPECT_TRUE(reply->has_list()) << reply->message();
    return reply->list().keys_size();
  };
  EXPECT_EQ(keys_listed(), 1);
  access.replace(rules({config::USE_KEYS}));
  EXPECT_EQ(keys_listed(), 0);
  access.replace(rules({config::USE_KEYS, config::MANAGE_KEYS}));
  EXPECT_EQ(keys_listed(), 1);
}

}  // namespace
}  // namespace tinyot::test
