// A program of the attacker in place of party B's daemon, which does what a test says with keys of
// custody.
#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "custody/coded.h"
#include "service/key_message.h"
#include "tests/service/custody_daemons.h"
#include "tests/service/scripted_peer.h"

#define ASSERT_OK(of) ASSERT_TRUE((of).status.ok()) << (of).status.error_message()

namespace tinyot::test {

class CustodyAttackTest : public CustodyTest {
 protected:
  static std::string code_of(const grpc::Status& status) {
    return std::to_string(status.error_code()) + " " + status.error_message();
  }
};

// Party B's daemon has ended, and a program of the attacker has all that it had.
class HostileFollowerTest : public CustodyAttackTest {
 protected:
  // Each encryption of B's with A's key "data" waits for an officer of A. Ends B's daemon.
  void start_with_approvals(const std::string& limit, KeyClient::Made& made) {
    CustodySetup setup;
    setup.policy_a =
        "allow { user: 'ME' key: '*' may: [CREATE] }\n"
        "allow { peer: true key: '*' may: [ENCRYPT] approval: true " +
        limit + " }\n";
    start_hostile({}, setup);
    made = keys_a_->create("data");
    ASSERT_OK(made);
    take_over();
  }
  void start_hostile(const std::string& online = {}, CustodySetup setup = {}) {
    if (!online.empty()) setup.peer = "online: '" + online + "'";
    online_ = online.empty() ? "auto" : online;
    start_custody(setup);
  }
  void take_over() {
    keys_b_.reset();
    EXPECT_EQ(b_->stop().status, 0);
    make_hostile();
    connect();
  }
  // The program, which has the keys of B and is not connected. `evaluations`: as configured.
  void make_hostile(std::uint32_t evaluations = 4) {
    const std::string key = (dir_ / "B.pem").string();
    identity_ = engine::read_identity(key);
    parties_ = {identity_->fingerprint(),
                engine::read_identity((dir_ / "A.pem").string()).fingerprint()};
    store_key_ = StoreKey::read(dir_ / "B.store_key");
    peer_ = std::make_unique<ScriptedPeer>(
        ScriptedPeer::Setup{.me = Party::B,
                            .port = port_,
                            .stores = b_->stores() / "alice",
                            .low = {100000, 20000},
                            .high = {300000, 60000},
                            .evaluations = evaluations,
                            .key = key,
                            .peer_key = "@" + (dir_ / "A.pem.crt").string(),
                            .sigma = "64",
                            .online = online_,
                            .store_key = store_key_});
  }
  void connect() {
    peer_->connect();
    peer_->send_stock({session()});
  }
  std::uint64_t session() const {
    std::uint64_t last = 0;
    for (const auto& entry : std::filesystem::directory_iterator(b_->stores() / "alice")) {
      const std::string name = entry.path().filename().string();
      if (name.size() == 6 && std::ranges::all_of(name, ::isdigit))
        last = std::max<std::uint64_t>(last, std::stoul(name));
    }
    return last;
  }

  service::AskedKey asked(service::KeyTerms terms) const {
    service::AskedKey asked;
    terms.requester = Party::B;
    asked.terms = std::move(terms);
    asked.client = "hostile";
    asked.begun = std::chrono::system_clock::now();
    asked.expires = asked.begun + std::chrono::seconds(60);
    asked.head.sequence = 1;
    return asked;
  }
  wire::Message message_of(const service::AskedKey& asked) const {
    wire::Message message;
    *message.mutable_key_request() = service::message_of(asked, parties_, identity_.value());
    return message;
  }
  // Whether the daemon has taken the request up.
  bool is_accepted(const wire::Message& request) { return answer_to(request).is_accepted(); }
  std::string refusal_of(const wire::Message& request) { return answer_to(request).reason(); }
  service::keys::Answer answer_to(const wire::Message& request) {
    peer_->send(request);
    service::keys::Said said;
    EXPECT_TRUE(said.ParseFromString(peer_->next(wire::Message::kKeyAnswer).key_answer().said()));
    return said.answer();
  }
  // How the daemon begins what it has taken up.
  wire::KeyStart begun(const service::KeyTerms& terms) {
    EXPECT_TRUE(is_accepted(message_of(asked(terms))));
    return peer_->next(wire::Message::kKeyStart).key_start();
  }
  static std::string bytes_of(const custody::RequestId& request) {
    return {reinterpret_cast<const char*>(request.data()), request.size()};
  }
  void end(const custody::RequestId& request) {
    wire::Message message;
    message.mutable_key_end()->set_request(bytes_of(request));
    message.mutable_key_end()->set_reason("no more");
    peer_->send(message);
  }
  service::KeyTerms use_terms(service::config::KeyOperation operation, const std::string& key,
                              std::uint32_t bytes) const {
    service::KeyTerms terms;
    terms.request = service::random_request();
    terms.operation = operation;
    terms.key = custody::key_id_from(key).value();
    terms.bytes = bytes;
    return terms;
  }
  custody::KeyFiles files_of_b() const {
    return {b_->stores() / "alice" / "custody",
            {Party::B, "alice", net::text_of(parties_.peer)},
            *store_key_};
  }
  // What B has of a key, by its files.
  custody::KeyHave have_of(const std::string& key) const {
    return files_of_b().have(custody::key_id_from(key).value()).value();
  }
  static custody::KeyHave destroyed(custody::KeyHave have) {
    have.state = custody::KeyState::Destroyed;
    have.epochs.clear();
    return have;
  }
  void say(const std::string& key, const custody::KeyHave& have) {
    wire::Message message;
    custody::put_bytes(custody::message_about(custody::key_id_from(key).value(), have),
                       *message.mutable_key_haves()->add_have());
    peer_->send(message);
  }
  // Whatever it still begins or ends of keys.
  void expect_link_ends() {
    EXPECT_THROW(
        {
          for (;;) (void)peer_->next_of({wire::Message::kKeyStart, wire::Message::kKeyEnd});
        },
        NetworkError);
    EXPECT_FALSE(peer_->has_lost_patience());
  }
  std::vector<std::string> problems_of_a() const {
    return service::verify_audit(directory_of(Party::A) / "audit.log",
                                 {parties_.peer, parties_.own})
        .problems;
  }
  std::size_t lines_with(const std::string& text) const {
    const std::string log = read_file(directory_of(Party::A) / "audit.log");
    std::size_t count = 0;
    for (std::size_t at = 0; (at = log.find(text, at)) != std::string::npos; ++at) ++count;
    return count;
  }

  std::string online_ = "auto";
  std::optional<net::Identity> identity_;
  service::KeyParties parties_;
  std::optional<StoreKey> store_key_;
  std::unique_ptr<ScriptedPeer> peer_;
};

}  // namespace tinyot::test
