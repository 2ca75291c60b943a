#include "tools/cli/render/party.h"

#include "tools/cli/render/report.h"
#include "tools/cli/render/text.h"

namespace tinyot::tools {

namespace {

void print_key(Format format, const net::Identity& identity, const std::filesystem::path& file,
               const std::string& text) {
  print_report(format,
               {{"command", "keygen"},
                {"fingerprint", net::text_of(identity.fingerprint())},
                {"key", file.string()},
                {"certificate", engine::certificate_of(file).string()},
                {"valid", identity.dates()}},
               text);
}

}  // namespace

void print(Format format, const net::Identity& identity, const std::filesystem::path& file) {
  print_key(format, identity, file,
            "fingerprint " + net::text_of(identity.fingerprint()) + ", valid " + identity.dates() +
                "\nprivate key: " + file.string() + ", for --key; keep it secret\ncertificate: " +
                engine::certificate_of(file).string() +
                "; send this file or the fingerprint to the peer, for its --peer-key\n");
}

void print_renewed(Format format, const net::Identity& identity,
                   const std::filesystem::path& file) {
  print_key(format, identity, file,
            "the certificate in " + file.string() + " is now valid " + identity.dates() +
                "\nthe key and its fingerprint are as before, " +
                net::text_of(identity.fingerprint()) +
                ": stores can still be used, and the peer needs nothing\na daemon that runs takes "
                "the certificate with a reload (SIGHUP)\n");
}

void print(Format format, const std::string& file, const service::StartCheck& check) {
  const auto peers = static_cast<std::uint64_t>(check.config.peer_size());
  print_report(
      format,
      {{"command", "serve"}, {"config", file}, {"peers", peers}, {"warnings", check.warnings}},
      file + ": the daemon can start, with " + counted(peers, "peer") + "\n");
}

}  // namespace tinyot::tools
