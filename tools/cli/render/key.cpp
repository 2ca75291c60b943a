#include "tools/cli/render/key.h"

#include <chrono>

#include "base/hex.h"
#include "service/foreign_text.h"
#include "system/clock.h"
#include "tools/cli/render/report.h"
#include "tools/cli/render/text.h"

namespace tinyot::tools {
namespace {

using service::foreign_text;
using service::RemoteKey;
using service::WaitingRequest;

std::string time_text(std::int64_t unix_ms) {
  return system::utc_text(std::chrono::system_clock::time_point() +
                          std::chrono::milliseconds(unix_ms));
}

std::string name_text(const RemoteKey& key) {
  return key.label + ", version " + std::to_string(key.version) + ", with " + key.peer;
}

std::string state_text(const RemoteKey& key) {
  return key.state +
         (key.needs_rebind    ? ", to be rebound since a TLS key has changed"
          : key.needs_refresh ? ", to be refreshed since it was rebound"
                              : "") +
         (key.peer_state.empty() || key.peer_state == key.state
              ? ""
              : ", at the peer " + key.peer_state);
}

std::string kind_text(const RemoteKey& key) {
  return key.key_class + " " + key.algorithm +
         (key.key_class == "aead" ? ", " + key.nonces + " nonces" : "") + ", " + key.origin;
}

std::string line_of(const RemoteKey& key) {
  return key.id + "  " + name_text(key) + ": " + kind_text(key) + ", " + state_text(key) + "\n";
}

std::string text_of(const RemoteKey& key) {
  std::string epochs;
  for (const std::string& epoch : key.epochs) epochs += (epochs.empty() ? "" : ", ") + epoch;
  return "key " + key.id + ": " + name_text(key) + "\n" + kind_text(key) +
         (key.parent.empty() ? "" : " from " + key.parent) + "; " + state_text(key) +
         "\nfingerprint " + key.fingerprint + ", the same at both parties\n" +
         (epochs.empty() ? "" : "epoch " + epochs + "\n") + "at most " +
         counted(key.use_bound, "use") + " so far\n" +
         (key.certificate_problem.empty()
              ? ""
              : "no certificate yet: " + foreign_text(key.certificate_problem) +
                    "; ask for it again with tinyot key certificate " + key.id + "\n");
}

Json json_of(const RemoteKey& key) {
  Json json = {{"id", key.id},           {"peer", key.peer},       {"label", key.label},
               {"version", key.version}, {"class", key.key_class}, {"algorithm", key.algorithm},
               {"nonces", key.nonces},   {"origin", key.origin}};
  if (!key.parent.empty()) json["parent"] = key.parent;
  json["state"] = key.state;
  json["peer_state"] = key.peer_state;
  json["fingerprint"] = key.fingerprint;
  json["epochs"] = key.epochs;
  json["use_bound"] = key.use_bound;
  if (key.needs_rebind) json["needs_rebind"] = true;
  if (key.needs_refresh) json["needs_refresh"] = true;
  if (!key.certificate_problem.empty()) json["certificate_problem"] = key.certificate_problem;
  return json;
}

std::string lines_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::string hex_of_text(const std::string& text) { return hex_of(std::as_bytes(std::span(text))); }

std::string text_of_operation(const WaitingRequest& waiting) {
  std::string officers;
  for (const std::string& officer : waiting.officers)
    officers += (officers.empty() ? "" : ", ") + foreign_text(officer);
  return waiting.request + "  " + waiting.operation + " of " +
         (waiting.key.empty() ? "all keys with " + waiting.peer
                              : foreign_text(waiting.label) + " (" + waiting.key + ")") +
         (waiting.bytes == 0 ? "" : ", " + counted(waiting.bytes, "byte")) +
         (waiting.details.empty() ? "" : ", " + foreign_text(waiting.details)) + "; confirmed by " +
         std::to_string(waiting.officers.size()) + " of " + counted(waiting.quorum, "officer") +
         " (" + officers + "), until " + time_text(waiting.expires_unix_ms) + "\n";
}

// The client, the label and the associated data may be the peer's choice.
std::string text_of(const WaitingRequest& waiting) {
  if (waiting.quorum > 0) return text_of_operation(waiting);
  return waiting.request + "  " + waiting.operation + " with " + foreign_text(waiting.label) +
         " (" + waiting.key + ")" +
         (waiting.details.empty() ? "" : ", " + foreign_text(waiting.details)) + ", " +
         counted(waiting.bytes, "byte") +
         (waiting.aad_bytes == 0
              ? ""
              : ", associated data of " + counted(waiting.aad_bytes, "byte") +
                    (waiting.shown_aad.empty() ? ""
                                               : " '" + foreign_text(waiting.shown_aad) + "'")) +
         "; by " +
         (waiting.is_own ? foreign_text(waiting.client) + " of this party"
                         : foreign_text(waiting.client) + " of " + waiting.peer) +
         ", until " + time_text(waiting.expires_unix_ms) + "\n";
}

Json json_of(const WaitingRequest& waiting) {
  Json json = {{"request", waiting.request},
               {"peer", waiting.peer},
               {"is_own", waiting.is_own},
               {"client", waiting.client},
               {"operation", waiting.operation},
               {"key", waiting.key},
               {"label", waiting.label},
               {"bytes", waiting.bytes},
               {"aad_bytes", waiting.aad_bytes},
               {"shown_aad", hex_of_text(waiting.shown_aad)},
               {"expires_at_s", static_cast<double>(waiting.expires_unix_ms) / 1000},
               {"details", waiting.details}};
  if (waiting.quorum == 0) return json;
  json["quorum"] = waiting.quorum;
  json["officers"] = waiting.officers;
  return json;
}

}  // namespace

void print(Format format, const std::string& command, const RemoteKey& key) {
  Json report = {{"command", command}};
  report.update(json_of(key));
  print_report(format, report, text_of(key));
}

void print(Format format, const std::vector<RemoteKey>& keys) {
  Json list = Json::array();
  std::string text;
  for (const RemoteKey& key : keys) {
    list.push_back(json_of(key));
    text += line_of(key);
  }
  print_report(format, {{"command", "key list"}, {"keys", list}},
               text.empty() ? "no keys\n" : text);
}

void print(Format format, const service::DestroyedKey& destroyed) {
  Json report = {{"command", "key destroy"}};
  report.update(json_of(destroyed.key));
  report["backups"] = destroyed.backups;
  print_report(format, report,
               "this party's share of key " + destroyed.key.id + ", " + name_text(destroyed.key) +
                   ", is destroyed\n" +
                   (destroyed.backups.empty()
                        ? "there is no backup of it in the daemon's directory; those that were "
                          "taken elsewhere have it still\n"
                        : "these backups have it still; remove them, and their copies:\n" +
                              lines_of(destroyed.backups)));
}

void print(Format format, const std::vector<ReboundKey>& rebound) {
  Json list = Json::array();
  std::string text;
  bool is_left = false;
  for (const auto& [key, not_refreshed] : rebound) {
    Json json = {{"id", key.id},
                 {"peer", key.peer},
                 {"label", key.label},
                 {"version", key.version},
                 {"is_refreshed", not_refreshed.empty()}};
    if (!not_refreshed.empty()) json["reason"] = not_refreshed;
    list.push_back(json);
    text +=
        key.id + "  " + name_text(key) + ": " +
        (not_refreshed.empty() ? "refreshed" : "not refreshed, " + foreign_text(not_refreshed)) +
        "\n";
    is_left |= !not_refreshed.empty();
  }
  if (is_left)
    text += "once both parties have rebound their keys, the same command refreshes the rest\n";
  print_report(format, {{"command", "key rebind"}, {"keys", list}},
               text.empty() ? "no key is to be rebound or refreshed\n" : text);
}

void print_backups(Format format, const std::vector<std::string>& files) {
  print_report(format, {{"command", "key backups"}, {"files", files}},
               files.empty() ? "no backups\n" : lines_of(files));
}

void print_resumed_keys(Format format, const std::string& peer) {
  print_report(format, {{"command", "key resume"}, {"peer", peer}},
               "the keys with " + peer + " are used again\n");
}

void print(Format format, const std::vector<WaitingRequest>& waiting) {
  Json list = Json::array();
  std::string text;
  for (const WaitingRequest& one : waiting) {
    list.push_back(json_of(one));
    text += text_of(one);
  }
  print_report(format, {{"command", "key approvals"}, {"approvals", list}},
               text.empty() ? "no request waits for an approval\n" : text);
}

void print_decided(Format format, const std::string& command, const std::string& request,
                   const std::string& decision) {
  print_report(format, {{"command", command}, {"request", request}},
               "request " + request + " is " + decision + "\n");
}

void print_written(Format format, const std::string& command, const std::string& key,
                   std::uint64_t bytes, const std::string& file) {
  print_report(format, {{"command", command}, {"key", key}, {"bytes", bytes}, {"output", file}},
               counted(bytes, "byte") + " with key " + key + ": " + file + "\n");
}

void print_tag(Format format, const std::vector<std::byte>& tag) {
  const std::string digits = hex_of(tag);
  print_report(format, {{"command", "key sign"}, {"tag", digits}}, digits + "\n");
}

void print_valid(Format format, const std::string& key) {
  print_report(format, {{"command", "key verify"}, {"key", key}, {"is_valid", true}},
               "the tag is valid\n");
}

void print(Format format, const std::string& command, const ShownCertificate& certificate) {
  const custody::KeyAttributes& attributes = certificate.key.own.attributes;
  const std::string fingerprint = hex_of(crypto::bytes_of(certificate.key.own.fingerprint)),
                    request = hex_of(certificate.key.own.making);
  Json report = {{"command", command},
                 {"id", text_of(attributes.id)},
                 {"label", attributes.label},
                 {"version", attributes.version},
                 {"class", name_of(attributes.key_class)},
                 {"algorithm", custody::name_of(attributes.algorithm)},
                 {"nonces", name_of(attributes.nonces)},
                 {"origin", name_of(attributes.origin)}};
  if (attributes.parent) report["parent"] = text_of(*attributes.parent);
  if (!attributes.cka_id.empty()) report["cka_id"] = hex_of_text(attributes.cka_id);
  report["fingerprint"] = fingerprint;
  report["request"] = request;
  std::string text = "key " + text_of(attributes.id) + ": " + attributes.label + ", version " +
                     std::to_string(attributes.version) + "\n" + name_of(attributes.key_class) +
                     " " + custody::name_of(attributes.algorithm) +
                     (attributes.key_class == custody::KeyClass::Aead
                          ? ", " + name_of(attributes.nonces) + " nonces"
                          : "") +
                     ", " + name_of(attributes.origin) +
                     (attributes.parent ? " from " + text_of(*attributes.parent) : "") +
                     "\nfingerprint " + fingerprint + "\nmade by request " + request + "\n";
  for (const auto& [party, statement] : {std::pair(&certificate.parties.own, &certificate.key.own),
                                         {&certificate.parties.peer, &certificate.key.peers}}) {
    const std::string time = system::utc_text(statement->time);
    report["signed"].push_back({{"key", net::text_of(*party)}, {"time", time}});
    text += "signed by " + net::text_of(*party) + " at " + time + "\n";
  }
  if (!certificate.output.empty()) {
    report["output"] = certificate.output;
    text += "certificate: " + certificate.output + "\n";
  }
  print_report(format, report, text);
}

void print_backup_key(Format format, const crypto::BoxPublicKey& key, const std::string& file) {
  const std::string digits = hex_of(key);
  print_report(format, {{"command", "key backup-key"}, {"public_key", digits}, {"key", file}},
               "public key " + digits +
                   ", for custody { backup_to { name: ... key: ... } } of the daemon's "
                   "configuration\nprivate key: " +
                   file + "; keep it offline, it opens all backups for this public key\n");
}

void print(Format format, const std::string& log, const service::AuditReport& report) {
  print_report(format,
               {{"command", "key audit verify"},
                {"log", log},
                {"lines", report.lines},
                {"requests", report.requests},
                {"problems", report.problems}},
               log + ": " + counted(report.lines, "line") + ", " +
                   counted(report.requests, "request") + ": " +
                   (report.problems.empty() ? "nothing is wrong"
                                            : counted(report.problems.size(), "problem")) +
                   "\n" + lines_of(report.problems));
}

}  // namespace tinyot::tools
