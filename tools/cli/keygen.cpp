#include "tools/cli/keygen.h"

#include <filesystem>

#include "base/error.h"
#include "engine/key_file.h"
#include "tools/cli/render/report.h"

namespace tinyot::tools {
namespace {

constexpr const char* kFileInDirectory = "tinyot-key.pem";

}  // namespace

int keygen_command(const Arguments& arguments) {
  CommandLine line("keygen", "--out DIR|FILE", "tinyot keygen --out party-a.pem");
  line.options().value("out",
                       "FILE for the private key and its certificate (mode 0600), FILE.crt for the "
                       "certificate alone; or a directory for both");
  line.require("out");
  if (!line.parse(arguments)) return 0;
  const Format format = line.common().format;
  std::filesystem::path file = line.text("out");
  if (std::error_code ignored; std::filesystem::is_directory(file, ignored))
    file /= kFileInDirectory;
  const net::Identity identity = net::Identity::generate();
  engine::write_identity(identity, file);
  const std::string fingerprint = net::text_of(identity.fingerprint()),
                    certificate = engine::certificate_of(file).string();
  const Json report = {{"command", "keygen"},
                       {"fingerprint", fingerprint},
                       {"key", file.string()},
                       {"certificate", certificate},
                       {"valid", identity.dates()}};
  print_report(format, report,
               "fingerprint " + fingerprint + ", valid " + identity.dates() + "\nprivate key: " +
                   file.string() + ", for --key; keep it secret\n" + "certificate: " + certificate +
                   "; send this file or the fingerprint to the peer, for its --peer-key\n");
  return 0;
}

}  // namespace tinyot::tools
