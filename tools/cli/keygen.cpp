// `tinyot keygen`: makes a party's key and its certificate, or renews the certificate, and prints
// the fingerprint.
#include <filesystem>

#include "base/error.h"
#include "engine/key_file.h"
#include "tools/cli/command_line.h"
#include "tools/cli/render/party.h"

namespace tinyot::tools {

int keygen_command(const Arguments& arguments) {
  CommandLine line("keygen", "--output DIR|FILE | --renew FILE",
                   "tinyot keygen --output party-a.pem");
  line.options()
      .value("output",
             "FILE for the private key and its certificate (mode 0600), FILE.crt for the "
             "certificate alone; or a directory for both")
      .alias("out")
      .value("renew",
             "FILE of a private key that gets a new certificate, as does FILE.crt; the key, its "
             "fingerprint and the stores that are bound to it stay");
  line.require_one_of({"output", "renew"});
  if (!line.parse(arguments)) return 0;
  if (line.has("renew")) {
    if (line.has("output")) throw UsageError("--renew and --output exclude each other");
    const std::filesystem::path file = line.text("renew");
    print_renewed(line.common().format, engine::renew_identity(file), file);
    return 0;
  }
  std::filesystem::path file = line.text("output");
  if (std::error_code ignored; std::filesystem::is_directory(file, ignored))
    file /= "tinyot-key.pem";
  const net::Identity identity = net::Identity::generate();
  engine::write_identity(identity, file);
  print(line.common().format, identity, file);
  return 0;
}

}  // namespace tinyot::tools
