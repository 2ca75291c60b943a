#include "tools/cli/key_options.h"

#include "base/error.h"
#include "tools/cli/daemon_options.h"

namespace tinyot::tools {

CommandLine key_line(const std::string& verb, const std::string& usage,
                     const std::string& example) {
  CommandLine line("key " + verb, usage,
                   "tinyot key " + verb + (example.empty() ? "" : " " + example));
  add_server_options(line.options());
  line.options().group("Key").value(
      "peer",
      "name of the peer in the daemon's configuration; default: the only one with keys, "
      "of list and approvals all");
  return line;
}

void take_key(CommandLine& line) {
  line.options().value("key", "id of the key, 32 hex digits, or its label: the newest version");
  line.positional("key", 1);
  line.require("key");
}

void add_key_wait(Options& options) {
  options
      .value("wait",
             "seconds to wait for the peer, or for officers who have to approve the request. "
             "Default: as long as the daemon does")
      .advanced();
}

void add_certificate_output(Options& options) {
  options.value("certificate", "FILE for what both parties have signed of the new key");
}

std::string peer_name_from(const CommandLine& line) {
  return line.has("peer") ? line.text("peer") : "";
}

service::KeyName key_name_from(const CommandLine& line) {
  return {peer_name_from(line), line.text("key")};
}

service::KeysConnection keys_from(const CommandLine& line) {
  constexpr std::uint64_t kWaitMax = 31 * 24 * 3600;
  service::KeysConnection::Wait wait;
  if (const auto limit = line.optional_size("wait")) {
    if (*limit < 1 || *limit > kWaitMax)
      throw UsageError("--wait is out of range: 1 second to 31 days");
    wait = std::chrono::seconds(*limit);
  }
  return service::KeysConnection(server_address_from(line), wait);
}

}  // namespace tinyot::tools
