// `tinyot key audit verify`: what is wrong with a log of what keys were used for.
#include "service/key_audit.h"

#include <filesystem>

#include "base/error.h"
#include "engine/key_file.h"
#include "tools/cli/command_line.h"
#include "tools/cli/failure.h"
#include "tools/cli/render/key.h"

namespace tinyot::tools {
namespace {

service::FormerKey former_key_from(const std::string& text) {
  constexpr std::string_view kUntil = ",until=";
  const std::size_t at = text.rfind(kUntil);
  service::FormerKey key{engine::peer_key_from(text.substr(0, at))};
  if (at == std::string::npos) return key;
  key.until = text.substr(at + kUntil.size());
  if (!service::is_audit_time(key.until))
    throw UsageError("until=" + key.until +
                     " is neither a day, as 2026-01-31, nor a time, as 2026-01-31T23:59:59Z");
  return key;
}

}  // namespace

int key_audit_verify(const Arguments& arguments) {
  CommandLine line("key audit verify",
                   "LOG --key FINGERPRINT|@FILE --peer-key FINGERPRINT|@FILE [--with PEERS_LOG]",
                   "tinyot key audit verify audit.log --key @party-a.pem.crt --peer-key "
                   "@party-b.pem.crt --with peers.log");
  line.options()
      .value("log", "the audit log of this party's daemon, or a copy of it")
      .value("key", "fingerprint of this party's key, or @FILE with it or a certificate")
      .value("peer-key", "that of the peer, or @FILE")
      .value("with", "the peer's log: each request that was accepted has to be in both")
      .values("former-key",
              "a key that this party had before, and with ,until=DAY or TIME (UTC) until when; "
              "several from the oldest on")
      .values("former-peer-key", "the same of the peer");
  line.positional("log", 1);
  for (const char* name : {"log", "key", "peer-key"}) line.require(name);
  if (!line.parse(arguments)) return 0;
  service::AuditParties parties{
      engine::peer_key_from(line.text("key")), engine::peer_key_from(line.text("peer-key")), {}};
  for (const std::string& key : line.list("former-key"))
    parties.former_own_keys.push_back(former_key_from(key));
  for (const std::string& key : line.list("former-peer-key"))
    parties.former_peers_keys.push_back(former_key_from(key));
  if (line.has("with")) {
    parties.peers_log = line.text("with");
    std::error_code unreadable;
    if (std::filesystem::equivalent(line.text("log"), line.text("with"), unreadable))
      throw UsageError("--with names the same file as the log: give it the peer's");
  }
  const service::AuditReport report = service::verify_audit(line.text("log"), parties);
  print(line.common().format, line.text("log"), report);
  return report.problems.empty() ? 0 : static_cast<int>(ExitStatus::Store);
}

}  // namespace tinyot::tools
