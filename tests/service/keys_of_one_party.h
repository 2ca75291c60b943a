// What one party does with keys of custody, without a daemon: its parts are in the process of the
// test, and its peer is a program of the attacker. There is no material, so that no step begins.
#pragma once

#include <unistd.h>

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "base/hex.h"
#include "service/keys.h"
#include "service/log_output.h"
#include "tests/service/hostile_follower.h"
#include "tests/service/local_peers.h"

namespace tinyot::test {

class KeysTest : public HostileFollowerTest {
 protected:
  // Whose daemon it would be; the program is the other one.
  explicit KeysTest(Party honest = Party::A) : honest_(honest) {
    service::config::Log log;
    log.set_file((dir_ / "log").string());
    log_.use(log);
  }

  // The files of the honest party, at whose desk one thing is done after the other.
  void make_parties(CustodySetup setup = {}) {
    setup.peer += " evaluations: 1";
    make_custody(setup);
    if (honest_ == Party::A)
      make_hostile(1);
    else
      make_hostile_leader();
  }
  // The honest party, linked with the program.
  void open() {
    const Daemon& daemon = honest_ == Party::A ? *a_ : *b_;
    std::filesystem::create_directories(daemon.stores());
    peers_ = std::make_unique<LocalPeers>(daemon, LocalPeers::Times());
    peer_->connect();
    (void)peer_->next(wire::Message::kKeyHaves);  // since then it has the link
  }
  service::Keys& keys() { return *peers_->peer().keys(); }
  static service::KeyCall call_of(uid_t user) {
    return {.caller = {.user = user, .groups = {}, .name = {}},
            .is_officer = true,
            .is_gone = {},
            .may_manage_keys = [](const service::Caller&) { return true; }};
  }
  static service::KeyCall call() { return call_of(::getuid()); }
  // Another one.
  static service::Caller officer() { return call_of(::getuid() + 1).caller; }

  // The files as they are before open(), whose peer has had this TLS key since.
  void change_files(const std::string& peer_identity,
                    const std::function<void(custody::KeyFiles&)>& change,
                    const std::string& own_identity = {}) const {
    custody::KeyFiles files(
        directory_of(honest_) / "custody",
        {honest_, honest_ == Party::A ? "bob" : "alice", peer_identity,
         own_identity.empty() ? net::text_of(parties_.peer) : own_identity},
        StoreKey::read(dir_ / (std::string(1, letter(honest_)) + ".store_key")));
    change(files);
  }
  void change_files(const std::function<void(custody::KeyFiles&)>& change) const {
    change_files(net::text_of(parties_.own), change);
  }
  static custody::KeyRecord new_record(const std::string& label) {
    custody::KeyRecord record;
    record.attributes.id = service::made_id(service::random_request());
    record.attributes.label = label;
    record.attributes.algorithm = custody::KeyAlgorithm::Aes128;
    return record;
  }
  // A key that the party has had since its peer had this TLS key. Before open(). Returns its id.
  std::string stored(const std::string& label, const std::string& peer_identity,
                     bool has_peer_destroyed = false) {
    const custody::KeyRecord record = new_record(label);
    change_files(peer_identity, [&](custody::KeyFiles& files) {
      store(files, record);
      have_ = files.have(record.attributes.id).value();
      if (has_peer_destroyed) files.note_peer_destroyed(record.attributes.id);
    });
    return custody::text_of(record.attributes.id);
  }
  std::string stored(const std::string& label) { return stored(label, net::text_of(parties_.own)); }
  // With one epoch, and active.
  static void store(custody::KeyFiles& files, const custody::KeyRecord& record) {
    const custody::Epoch epoch{1, {}};
    const std::uint64_t link = files.begin_link();
    files.store_epoch(link, record, epoch, custody::Share(16));
    files.keep_only(link, record.attributes.id, epoch);
  }
  std::filesystem::path file_in_custody(const std::string& name) const {
    return directory_of(honest_) / "custody" / name;
  }
  // So that it cannot be replaced.
  static void put_directory_in_place_of(const std::filesystem::path& file) {
    std::filesystem::remove(file);
    std::filesystem::create_directory(file);
  }
  static custody::KeyId id_of(const std::string& key) { return custody::key_id_from(key).value(); }
  custody::KeyRecord record(const std::string& key) { return keys().view(id_of(key)).record; }

  static service::KeyTerms create_terms(const std::string& label) {
    service::KeyTerms terms;
    terms.request = service::random_request();
    terms.making = service::random_request();
    terms.operation = service::config::CREATE;
    terms.key = service::made_id(terms.making);
    terms.attributes.emplace().id = terms.key;
    terms.attributes->label = label;
    return terms;
  }
  static service::KeyPayload payload_of(std::size_t bytes) {
    service::KeyPayload payload;
    payload.use.text.assign(bytes, std::byte{'t'});
    return payload;
  }
  // A client asks, and waits for the end.
  std::future<service::KeyResult> ask_by(const service::KeyCall& client, service::KeyTerms terms,
                                         service::KeyPayload payload = {}) {
    return std::async(std::launch::async, [this, client, terms = std::move(terms),
                                           payload = std::move(payload)]() mutable {
      return keys().ask(client, std::move(terms), std::move(payload));
    });
  }
  std::future<service::KeyResult> ask(service::KeyTerms terms, service::KeyPayload payload = {}) {
    return ask_by(call(), std::move(terms), std::move(payload));
  }
  template <class Result>
  static std::string failure_of(std::future<Result> ended) {
    if (ended.wait_for(std::chrono::seconds(20)) != std::future_status::ready)
      return "it still waits";
    try {
      (void)ended.get();
    } catch (const std::exception& error) {
      return error.what();
    }
    return "it is done";
  }
  // Of the next request of the party's.
  custody::RequestId next_request() {
    return service::request_in(peer_->next(wire::Message::kKeyRequest).key_request().said())
        .value();
  }
  std::string log() const { return read_file(dir_ / "log"); }
  bool is_logged(const std::string& text) const { return log().find(text) != std::string::npos; }
  std::string audit_log() const { return read_file(directory_of(honest_) / "audit.log"); }
  bool is_in_audit_log(const std::string& text) const {
    return audit_log().find(text) != std::string::npos;
  }

  const Party honest_;
  service::LogOutput log_;
  custody::KeyHave have_;  // of the key that was stored last
  std::unique_ptr<LocalPeers> peers_;

 private:
  // Party A, which leads.
  void make_hostile_leader() {
    const std::string key = (dir_ / "A.pem").string();
    identity_ = engine::read_identity(key);
    parties_ = {identity_->fingerprint(),
                engine::read_identity((dir_ / "B.pem").string()).fingerprint()};
    peer_ = std::make_unique<ScriptedPeer>(
        ScriptedPeer::Setup{.me = Party::A,
                            .port = port_,
                            .stores = a_->stores() / "bob",
                            .low = {100000, 20000},
                            .high = {300000, 60000},
                            .evaluations = 1,
                            .key = key,
                            .peer_key = "@" + (dir_ / "B.pem.crt").string(),
                            .sigma = "64",
                            .store_key = StoreKey::read(dir_ / "A.store_key")});
  }
};

}  // namespace tinyot::test
