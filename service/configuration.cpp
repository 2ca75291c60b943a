#include "service/configuration.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/hex.h"
#include "circuitgen/generators/registry.h"
#include "crypto/sealed_box.h"
#include "custody/key.h"
#include "engine/loaded_circuit.h"
#include "engine/run_estimate.h"
#include "net/tcp.h"
#include "offline/base_ot/base_ot.h"
#include "offline/profile.h"
#include "online/online_phase.h"
#include "service/key_policy.h"
#include "service/peer_settings.h"
#include "system/input_file.h"
#include "tinyot/parameters.h"

namespace tinyot::service {
namespace {

namespace pb = google::protobuf;

// A link may be silent for 5 s (peer_link.cpp).
constexpr std::uint64_t kIdleTimeoutMin_s = 10;
constexpr std::uintmax_t kFileBytesMax = 1 << 20;
constexpr std::uint32_t kSigmaMin = 40, kSigmaMax = 128;
// Each session leaks with 2^-sigma, and a key outlives many.
constexpr std::uint32_t kCustodySigmaMin = 64, kQuorumMax = 16;
constexpr std::uint64_t kTimeoutMax_s = 31 * 86400;

// Keeps the first error.
class FirstError final : public pb::io::ErrorCollector {
 public:
  explicit FirstError(std::string name) : name_(std::move(name)) {}
  void AddError(int line, int column, const std::string& message) override {
    if (!text_.empty()) return;
    text_ = name_;
    if (line >= 0) text_ += ":" + std::to_string(line + 1) + ":" + std::to_string(column + 1);
    text_ += ": " + message;
  }
  const std::string& text() const { return text_; }

 private:
  std::string name_, text_;
};

template <class Message>
Message parsed(const std::string& text, const std::string& name) {
  Message message;
  FirstError error(name);
  pb::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  if (!parser.ParseFromString(text, &message)) throw UsageError(error.text());
  return message;
}

class Checks {
 public:
  explicit Checks(std::string name) : name_(std::move(name)) {}
  void require(bool holds, const std::string& otherwise, Remedy remedy = Remedy::None) const {
    if (!holds) throw UsageError(name_ + ": " + otherwise, remedy);
  }
  void in_range(const std::string& field, std::uint64_t value, std::uint64_t min,
                std::uint64_t max) const {
    require(min <= value && value <= max,
            field + " is out of range: " + std::to_string(min) + " to " + std::to_string(max));
  }
  // Fails: UsageError if the value cannot be used.
  template <class Parse>
  void parses(const std::string& field, const Parse& parse) const {
    try {
      parse();
    } catch (const UsageError& error) {
      throw UsageError(name_ + ": " + field + ": " + error.what());
    }
  }

 private:
  std::string name_;
};

void check_peer(const config::Peer& peer, const Checks& file) {
  file.require(is_name(peer.name()),
               "a peer's name has 1 to 64 letters, digits and . _ -, unlike '" + peer.name() + "'");
  const std::string of = "peer " + peer.name() + ": ";
  file.require(peer.has_listen() != peer.has_connect(),
               of + "give one of listen and connect, as HOST:PORT");
  file.parses(of + "address",
              [&] { net::parse_address(peer.has_listen() ? peer.listen() : peer.connect()); });
  file.require(peer.has_key() == peer.has_peer_key(), of + "key and peer_key go together");
  file.require(peer.has_profile(), of + "profile is missing: name it, the same at both parties");
  file.parses(of + "profile", [&] { profile_named(peer.profile()); });
  file.parses(of + "material", [&] {
    const auto made = offline::entry_of(profile_named(peer.profile())).materials;
    const AndMaterial material = PeerSettings::material_of(peer);
    if (std::ranges::find(made, material) == made.end())
      throw UsageError("profile " + peer.profile() + " does not make " +
                       std::string(name_of(material)));
  });
  file.parses(of + "online", [&] {
    (void)online::phases_on(PeerSettings::material_of(peer), requested_phase(peer.online()));
  });
  file.parses(of + "base_ot", [&] { offline::require_base_ot(requested_base_ot(peer.base_ot())); });
  file.require(
      peer.prepared_size() <= kPreparedCircuitsMax,
      of + "prepared: there are more than " + std::to_string(kPreparedCircuitsMax) + " circuits");
  for (const config::Prepared& prepared : peer.prepared()) {
    file.in_range(of + "prepared.count", prepared.count(), 1, 10'000);
    file.in_range(of + "prepared.lanes", prepared.lanes(), 1, engine::LoadedCircuit::kLanesMax);
  }
  file.parses(of + "prepared", [&] {
    if (peer.prepared_size() == 0) return;
    const PeerSettings settings(peer);
    for (const PreparedCircuit& circuit : settings.prepared) {
      const engine::Demand needed = engine::demand_of_runs(circuit.circuit, settings.material, 1);
      if (needed.ands > settings.high.ands || needed.inputs > settings.high.inputs)
        throw UsageError(circuit.terms.circuit() + " takes " + std::to_string(needed.ands) +
                         " ANDs and " + std::to_string(needed.inputs) +
                         " inputs of a party, more than high");
    }
  });
  file.in_range(of + "sigma", peer.sigma(), kSigmaMin, kSigmaMax);
  file.in_range(of + "evaluations", peer.evaluations(), 1, 64);
  file.in_range(of + "idle_timeout_s", peer.idle_timeout_s(), kIdleTimeoutMin_s, 3600);
  file.in_range(of + "sessions_per_day", peer.sessions_per_day(), 1, 1000);
  constexpr std::uint64_t kAndsMax = std::uint64_t{1} << 40;
  file.in_range(of + "high.ands", peer.high().ands(), 1, kAndsMax);
  file.in_range(of + "low.ands", peer.low().ands(), 1, peer.high().ands());
  file.require(peer.low().has_inputs() == peer.high().has_inputs(),
               of + "give inputs for both low and high, or for none");
  if (peer.high().has_inputs()) {
    file.in_range(of + "high.inputs", peer.high().inputs(), 1, kAndsMax);
    file.in_range(of + "low.inputs", peer.low().inputs(), 0, peer.high().inputs());
  }
}

void check_socket_mode(const std::string& field, const std::string& mode, const Checks& file) {
  file.require(mode.size() >= 3 && mode.size() <= 4 &&
                   mode.find_first_not_of("01234567") == std::string::npos,
               field + " is an octal number such as 0660");
}

void check_kms(const config::Kms& kms, const std::string& of, const Checks& file) {
  file.require(!kms.socket().empty(), of + "socket is empty");
  check_socket_mode(of + "socket_mode", kms.socket_mode(), file);
  file.parses(of + "label", [&] {
    custody::KeyAttributes attributes;
    attributes.label = kms.label();
    custody::require_valid(attributes);
  });
}

void check_custody(const config::Peer& peer, const config::Daemon& daemon, const Checks& file) {
  const config::Custody& custody = peer.custody();
  const std::string of = "peer " + peer.name() + ": custody: ";
  file.require(daemon.has_store_key(),
               of + "shares are sealed under a store_key, and none is given");
  file.require(peer.has_key(),
               of + "requests are signed with key, and checked with peer_key: give both");
  file.require(custody.weak() || peer.sigma() >= kCustodySigmaMin,
               of + "keys take a sigma of at least " + std::to_string(kCustodySigmaMin) + ", not " +
                   std::to_string(peer.sigma()) + " (weak: true is for tests)");
  file.require(!custody.policy().empty(), of + "policy is empty");
  file.require(!custody.has_audit_log() || !custody.audit_log().empty(), of + "audit_log is empty");
  file.require(custody.backup_directory().empty() == (custody.backup_to_size() == 0),
               of + "backup_directory and backup_to go together");
  std::set<std::string> names;
  for (const config::BackupRecipient& to : custody.backup_to()) {
    file.require(is_name(to.name()), of +
                                         "the name of backup_to has 1 to 64 letters, digits and "
                                         ". _ -, unlike '" +
                                         to.name() + "'");
    file.require(names.insert(to.name()).second, of + "backup_to " + to.name() + " is given twice");
    crypto::BoxPublicKey key;
    file.require(parse_hex(to.key(), key), of + "backup_to " + to.name() +
                                               ": the key is a public one, 64 hex digits, not " +
                                               std::to_string(to.key().size()) + " characters");
    file.parses(of + "backup_to " + to.name(), [&] { (void)crypto::seal_box(key, {}); });
  }
  file.in_range(of + "keys_max", custody.keys_max(), 1, 100'000);
  file.in_range(of + "request_timeout_s", custody.request_timeout_s(), 1, 3600);
  file.in_range(of + "approval_timeout_s", custody.approval_timeout_s(), 1, kTimeoutMax_s);
  file.in_range(of + "quorum", custody.quorum(), 1, kQuorumMax);
  // A user who is in the group has more numbers than one: those of its containers.
  const bool has_officers_by_group = std::ranges::any_of(daemon.access(), [](const auto& entry) {
    return entry.group_size() > 0 &&
           std::ranges::find(entry.may(), config::MANAGE_KEYS) != entry.may().end();
  });
  file.require(custody.quorum() <= 1 || !has_officers_by_group,
               of + "quorum counts officers, whom access names by user or client: one of a group "
                    "may be several users");
  for (const config::Kms& kms : custody.kms()) check_kms(kms, of + "kms: ", file);
}

void check_circuit(const config::Rule& rule, const std::string& of, const Checks& file) {
  const auto& families = circuit::circuit_families();
  const auto family = std::ranges::find(families, rule.circuit(), &circuit::CircuitFamily::name);
  file.require(family != families.end(), of + "there is no circuit '" + rule.circuit() +
                                             "'; bounds of its parameters are fields of their own");
  for (const config::Parameter& parameter : rule.parameter()) {
    const std::string name = of + "parameter " + parameter.name() + ": ";
    const auto known =
        std::ranges::find(family->parameters, parameter.name(), &circuit::CircuitParameter::name);
    file.require(known != family->parameters.end(),
                 name + rule.circuit() + " has no such parameter");
    if (known->choices.empty()) {
      file.require((parameter.has_min() || parameter.has_max()) && parameter.value_size() == 0,
                   name + "give min, max or both");
      file.require(!parameter.has_max() || parameter.min() <= parameter.max(),
                   name + "min is greater than max");
    } else {
      file.require(!parameter.has_min() && !parameter.has_max() && parameter.value_size() > 0,
                   name + "give the values that are allowed");
    }
  }
}

constexpr std::uint64_t kRateMax = 1'000'000;

void check_rule(const config::Rule& rule, const std::string& of, const Checks& file) {
  file.require(rule.has_circuit() != rule.has_digest(),
               of + "give one of circuit and digest: a circuit's name, or its fingerprint");
  if (rule.has_circuit()) {
    check_circuit(rule, of, file);
  } else {
    file.require(circuit::parse_circuit_fingerprint(rule.digest()).has_value(),
                 of + "a digest is the whole fingerprint of a circuit, 64 hex digits, not " +
                     std::to_string(rule.digest().size()) + " characters",
                 Remedy::PrintFingerprint);
    file.require(rule.parameter_size() == 0, of + "a digest is of a circuit with its parameters");
  }
  file.in_range(of + "lanes_max", rule.lanes_max(), 1, engine::LoadedCircuit::kLanesMax);
  if (!rule.has_rate()) return;
  file.in_range(of + "rate.jobs", rule.rate().jobs(), 1, kRateMax);
  file.in_range(of + "rate.seconds", rule.rate().seconds(), 1, kTimeoutMax_s);
}

template <class... Operations>
bool allows_any_of(const config::KeyRule& rule, Operations... operations) {
  return std::ranges::any_of(rule.may(), [&](int may) { return ((may == operations) || ...); });
}

bool is_for_clients(const config::KeyRule& rule) {
  return rule.user_size() + rule.client_size() > 0;
}

void check_pattern(const std::string& pattern, const std::string& of, const Checks& file) {
  if (pattern == "*" || custody::key_id_from(pattern)) return;
  custody::KeyAttributes attributes;
  attributes.label = pattern.substr(0, pattern.size() - (pattern.ends_with('*') ? 1 : 0));
  try {
    custody::require_valid(attributes);
  } catch (const UsageError&) {
    file.require(false, of + "key '" + pattern +
                            "' is neither an id of 32 hex digits nor a label, which has 1 to 64 of "
                            "the characters a-z, A-Z, 0-9, '-', '_', '.' and '/', and may end with "
                            "'*' for any rest");
  }
}

void check_key_rule(const config::KeyRule& rule, const std::string& of, const Checks& file) {
  const auto none_is_empty = [](const auto& texts) {
    return std::ranges::none_of(texts, &std::string::empty);
  };
  file.require(rule.peer() || is_for_clients(rule),
               of + "it names nobody: give peer: true, user or client");
  file.require(none_is_empty(rule.user()) && none_is_empty(rule.client()),
               of + "user or client is empty");
  file.require(rule.key_size() > 0, of + "it names no key: give key, a label or an id");
  for (const std::string& pattern : rule.key()) check_pattern(pattern, of, file);
  file.require(rule.may_size() > 0, of + "it allows no operation: give may");
  file.in_range(of + "bytes_max", rule.bytes_max(), 1, kPayloadBytesMax);
  if (rule.has_rate()) {
    file.in_range(of + "rate.requests", rule.rate().requests(), 1, kRateMax);
    file.in_range(of + "rate.seconds", rule.rate().seconds(), 1, kTimeoutMax_s);
  }
  file.require(rule.nonces_size() == 0 ||
                   allows_any_of(rule, config::CREATE, config::IMPORT, config::DERIVE),
               of + "nonces are of keys that are made: may has none of CREATE, IMPORT and DERIVE");
  file.require(
      !rule.has_shown_prefix() ||
          std::ranges::all_of(
              rule.may(), [](int may) { return may == config::ENCRYPT || may == config::DECRYPT; }),
      of + "shown_prefix is of ENCRYPT and DECRYPT, and other operations have no "
           "associated data: give them a rule of their own");
}

// Whether a key may fit both. An id may be of a key of any label.
bool overlap(const std::string& one, const std::string& other) {
  const auto id = custody::key_id_from(one), other_id = custody::key_id_from(other);
  if (id && other_id) return id == other_id;
  if (id || other_id) return true;
  const auto fixed = [](std::string_view pattern) {
    return pattern.substr(0, pattern.size() - (pattern.ends_with('*') ? 1 : 0));
  };
  const std::string_view mine = fixed(one), others = fixed(other);
  return (one.ends_with('*') && others.starts_with(mine)) ||
         (other.ends_with('*') && mine.starts_with(others)) || one == other;
}

bool overlap(const config::KeyRule& one, const config::KeyRule& other) {
  return std::ranges::any_of(one.key(), [&](const std::string& key) {
    return std::ranges::any_of(other.key(),
                               [&](const std::string& others) { return overlap(key, others); });
  });
}

// Keys whose nonces a client chooses are used by one party alone. Of the keys that rule `i` may
// make, those that a later edit of the file lets the other party use are not found here.
void check_caller_nonces(const config::KeyPolicy& policy, int i, const Checks& file) {
  const config::KeyRule& making = policy.allow(i);
  if (std::ranges::find(making.nonces(), config::CALLER) == making.nonces().end()) return;
  const auto number_of = [&](const auto& is_by) {
    for (int j = 0; j < policy.allow_size(); ++j) {
      const config::KeyRule& rule = policy.allow(j);
      if (allows_any_of(rule, config::ENCRYPT, config::DECRYPT) && is_by(rule) &&
          overlap(making, rule))
        return j + 1;
    }
    return 0;
  };
  const int by_peer = number_of([](const config::KeyRule&rule) { return rule.peer(); }),
            by_clients = number_of(is_for_clients);
  file.require(by_peer == 0 || by_clients == 0,
               "rule " + std::to_string(i + 1) +
                   ": nonces: CALLER takes keys that one party alone encrypts and decrypts with, "
                   "since whoever chooses nonces can open what the other party seals; of its keys, "
                   "the peer may by rule " +
                   std::to_string(by_peer) + ", and clients of this party by rule " +
                   std::to_string(by_clients));
}

}  // namespace

std::string read_text(const std::filesystem::path& file) {
  return system::read_text(system::InputFile(file), kFileBytesMax);
}

std::vector<SocketField> sockets_of(const config::Daemon& daemon) {
  std::vector<SocketField> sockets = {{"socket", daemon.socket()}};
  if (daemon.has_pkcs11()) sockets.push_back({"pkcs11: socket", daemon.pkcs11().socket()});
  for (const config::Peer& peer : daemon.peer())
    for (const config::Kms& kms : peer.custody().kms())
      sockets.push_back({"peer " + peer.name() + ": custody.kms.socket", kms.socket()});
  return sockets;
}

bool is_name(const std::string& text) {
  constexpr std::string_view kAllowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  return !text.empty() && text.size() <= 64 && text != "." && text != ".." &&
         text.find_first_not_of(kAllowed) == std::string::npos;
}

config::Daemon parse_configuration(const std::string& text, const std::string& name) {
  auto daemon = parsed<config::Daemon>(text, name);
  const Checks file(name);
  file.require(!daemon.directory().empty(), "directory is empty");
  file.require(daemon.peer_size() > 0, "there is no peer");
  check_socket_mode("socket_mode", daemon.socket_mode(), file);
  check_socket_mode("pkcs11: socket_mode", daemon.pkcs11().socket_mode(), file);
  std::set<std::string> names, addresses, audit_logs, sockets;
  for (const config::Peer& peer : daemon.peer()) {
    check_peer(peer, file);
    file.require(names.insert(peer.name()).second, "peer " + peer.name() + " is given twice");
    file.require(!peer.has_listen() || addresses.insert(peer.listen()).second,
                 "two peers listen on " + peer.listen());
    if (!peer.has_custody()) continue;
    check_custody(peer, daemon, file);
    const std::string& log = peer.custody().audit_log();
    file.require(log.empty() || audit_logs.insert(log).second,
                 "two peers have the audit_log " + log);
  }
  for (const SocketField& socket : sockets_of(daemon))
    file.require(sockets.insert(socket.path).second,
                 socket.field + ": " + socket.path + " is another socket of the daemon");
  if (daemon.has_metrics()) file.parses("metrics", [&] { net::parse_address(daemon.metrics()); });
  if (daemon.has_tls())
    file.parses("tls.listen", [&] { net::parse_address(daemon.tls().listen()); });
  for (const config::Access& access : daemon.access()) {
    file.require(access.user_size() + access.group_size() + access.client_size() > 0,
                 "access { } names no user, group or client");
    file.require(std::ranges::none_of(access.client(), &std::string::empty),
                 "access: client is empty");
  }
  file.in_range("refill_threads", daemon.refill_threads(), 1, 256);
  file.in_range("refills_at_once", daemon.refills_at_once(), 1, 256);
  if (daemon.has_refill_bytes_per_s())
    file.in_range("refill_bytes_per_s", daemon.refill_bytes_per_s(), 1000, std::uint64_t{1} << 40);
  file.in_range("jobs_max", daemon.jobs_max(), 1, 1'000'000);
  file.in_range("job_bytes_max", daemon.job_bytes_max(), 1 << 10, std::uint64_t{1} << 40);
  file.in_range("job_timeout_s", daemon.job_timeout_s(), 1, kTimeoutMax_s);
  file.in_range("result_timeout_s", daemon.result_timeout_s(), 1, kTimeoutMax_s);
  file.in_range("client_connections_max", daemon.client_connections_max(), 1, 1'000'000);
  return daemon;
}

config::Policy parse_policy(const std::string& text, const std::string& name) {
  auto policy = parsed<config::Policy>(text, name);
  const Checks file(name);
  for (int i = 0; i < policy.allow_size(); ++i)
    check_rule(policy.allow(i), "rule " + std::to_string(i + 1) + ": ", file);
  return policy;
}

config::KeyPolicy parse_key_policy(const std::string& text, const std::string& name) {
  auto policy = parsed<config::KeyPolicy>(text, name);
  const Checks file(name);
  for (int i = 0; i < policy.allow_size(); ++i)
    check_key_rule(policy.allow(i), "rule " + std::to_string(i + 1) + ": ", file);
  for (int i = 0; i < policy.allow_size(); ++i) check_caller_nonces(policy, i, file);
  return policy;
}

config::Daemon read_configuration(const std::filesystem::path& file) {
  return parse_configuration(read_text(file), file.string());
}

config::Policy read_policy(const std::filesystem::path& file) {
  return parse_policy(read_text(file), file.string());
}

config::KeyPolicy read_key_policy(const std::filesystem::path& file) {
  return parse_key_policy(read_text(file), file.string());
}

}  // namespace tinyot::service
