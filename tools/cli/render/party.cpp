#include "tools/cli/render/party.h"

#include "tools/cli/render/report.h"
#include "tools/cli/render/text.h"

namespace tinyot::tools {

void print(Format format, const net::Identity& identity, const std::filesystem::path& file) {
  const std::string fingerprint = net::text_of(identity.fingerprint()),
                    certificate = engine::certificate_of(file).string();
  print_report(format,
               {{"command", "keygen"},
                {"fingerprint", fingerprint},
                {"key", file.string()},
                {"certificate", certificate},
                {"valid", identity.dates()}},
               "fingerprint " + fingerprint + ", valid " + identity.dates() + "\nprivate key: " +
                   file.string() + ", for --key; keep it secret\n" + "certificate: " + certificate +
                   "; send this file or the fingerprint to the peer, for its --peer-key\n");
}

void print(Format format, const std::string& file, const service::StartCheck& check) {
  const auto peers = static_cast<std::uint64_t>(check.config.peer_size());
  print_report(
      format,
      {{"command", "serve"}, {"config", file}, {"peers", peers}, {"warnings", check.warnings}},
      file + ": the daemon can start, with " + counted(peers, "peer") + "\n");
}

}  // namespace tinyot::tools
