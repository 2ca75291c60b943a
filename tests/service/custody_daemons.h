// Two daemons with keys of custody between them, and clients that may do everything with them.
#pragma once

#include <unistd.h>

#include <string>

#include "engine/key_file.h"
#include "service/key_audit.h"
#include "tests/service/daemons.h"
#include "tests/service/key_client.h"
#include "tinyot/party.h"

namespace tinyot::test {

class CustodyTest : public DaemonTest {
 protected:
  struct CustodySetup {
    // Of this party's clients and of the peer.
    std::string policy_a = kAll, policy_b = kAll;
    std::string custody_a = {}, custody_b = {};  // further fields
    std::string rights_a = "USE_KEYS, MANAGE_KEYS";
    std::string low = "ands: 100000 inputs: 20000";
    std::string ands = "300000", inputs = "60000";  // high
    std::string port_b = {};                        // to which B connects, if it is not A's
    std::string peer = {};                          // further fields of both parts of the peer
    std::string jobs = {};                          // further rules of both policies for jobs
    std::string daemon_a = {};                      // further fields of A's daemon
    AndMaterial material = AndMaterial::Triples;
  };
  static constexpr const char* kAll =
      "allow { peer: true user: 'ME' key: '*' bytes_max: 65536\n"
      "  may: [ENCRYPT, DECRYPT, SIGN, VERIFY, CREATE, IMPORT, DERIVE, REFRESH]\n"
      "  nonces: JOINT }\n";

  // Makes the files of both, but starts neither.
  void make_custody(const CustodySetup& custody) {
    Setup setup;
    // Keys last longer than a session; sigma 64 takes more material.
    setup.low = "low { " + custody.low + " }";
    setup.port_b = custody.port_b;
    setup.material = custody.material;
    setup.policy_a += custody.jobs;
    setup.policy_b += custody.jobs;
    setup.high = "high { ands: " + custody.ands + " inputs: " + custody.inputs + " }";
    for (const Party party : {Party::A, Party::B}) {
      const std::string name(1, letter(party));
      engine::write_identity(net::Identity::generate(), dir_ / (name + ".pem"));
      const std::filesystem::path store_key = dir_ / (name + ".store_key");
      write_file(store_key, std::string(32, party == Party::A ? 'a' : 'b'));
      std::filesystem::permissions(store_key, std::filesystem::perms::owner_read);
    }
    const auto daemon = [&](const std::string& name, const std::string& rights) {
      return "store_key: '" + (dir_ / (name + ".store_key")).string() + "'\naccess { user: '" +
             me() + "' may: [SUBMIT, RESULTS, CANCEL, RETIRE, RESUME, " + rights + "] }";
    };
    setup.daemon_a = daemon("A", custody.rights_a) + custody.daemon_a;
    setup.daemon_b = daemon("B", CustodySetup().rights_a);
    const auto peer = [&](const std::string& name, const std::string& other,
                          const std::string& policy, const std::string& further) {
      write_policy(name, policy);
      return custody.peer + " sigma: 64 key: '" + (dir_ / (name + ".pem")).string() +
             "' peer_key: '@" + (dir_ / (other + ".pem.crt")).string() + "' custody { policy: '" +
             policy_of(name).string() + "' " + further + " }";
    };
    setup.peer_a = peer("A", "B", custody.policy_a, custody.custody_a);
    setup.peer_b = peer("B", "A", custody.policy_b, custody.custody_b);
    make(setup);
  }
  // Makes and starts both.
  void start_custody(const CustodySetup& custody) {
    make_custody(custody);
    a_->start();
    b_->start();
    ASSERT_TRUE(is_stocked());
    keys_a_ = std::make_unique<KeyClient>(a_->socket());
    keys_b_ = std::make_unique<KeyClient>(b_->socket());
  }
  void start_custody() { start_custody({}); }

  static std::string me() { return std::to_string(::getuid()); }
  std::filesystem::path policy_of(const std::string& name) const {
    return dir_ / (name + ".key_policy");
  }
  void write_policy(const std::string& name, std::string policy) const {
    for (std::size_t at; (at = policy.find("'ME'")) != std::string::npos;)
      policy.replace(at, 4, "'" + me() + "'");
    write_file(policy_of(name), policy);
  }

  std::filesystem::path directory_of(Party party) const {
    return party == Party::A ? a_->stores() / "bob" : b_->stores() / "alice";
  }
  // What is wrong with the logs of both parties.
  std::vector<std::string> audit_problems() const {
    std::vector<std::string> problems;
    for (const Party party : {Party::A, Party::B}) {
      const auto key = [&](Party of) {
        return engine::read_identity((dir_ / (std::string(1, letter(of)) + ".pem")).string())
            .fingerprint();
      };
      const auto report = service::verify_audit(
          directory_of(party) / "audit.log",
          {key(party), key(peer_of(party)), directory_of(peer_of(party)) / "audit.log"});
      problems.insert(problems.end(), report.problems.begin(), report.problems.end());
    }
    return problems;
  }

  std::unique_ptr<KeyClient> keys_a_, keys_b_;
};

}  // namespace tinyot::test
