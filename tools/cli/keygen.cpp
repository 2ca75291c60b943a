// `tinyot keygen`: makes a party's key and its certificate, and prints the fingerprint.
#include <filesystem>

#include "engine/key_file.h"
#include "tools/cli/command_line.h"
#include "tools/cli/render/party.h"

namespace tinyot::tools {

int keygen_command(const Arguments& arguments) {
  CommandLine line("keygen", "--output DIR|FILE", "tinyot keygen --output party-a.pem");
  line.options()
      .value("output",
             "FILE for the private key and its certificate (mode 0600), FILE.crt for the "
             "certificate alone; or a directory for both")
      .alias("out");
  line.require("output");
  if (!line.parse(arguments)) return 0;
  std::filesystem::path file = line.text("output");
  if (std::error_code ignored; std::filesystem::is_directory(file, ignored))
    file /= "tinyot-key.pem";
  const net::Identity identity = net::Identity::generate();
  engine::write_identity(identity, file);
  print(line.common().format, identity, file);
  return 0;
}

}  // namespace tinyot::tools
