// `tinyot keygen`: makes a party's key and its certificate, and prints the fingerprint.
#include <filesystem>

#include "engine/key_file.h"
#include "tools/cli/command_line.h"
#include "tools/cli/render/party.h"

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
  std::filesystem::path file = line.text("out");
  if (std::error_code ignored; std::filesystem::is_directory(file, ignored))
    file /= kFileInDirectory;
  const net::Identity identity = net::Identity::generate();
  engine::write_identity(identity, file);
  print(line.common().format, identity, file);
  return 0;
}

}  // namespace tinyot::tools
