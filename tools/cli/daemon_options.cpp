#include "tools/cli/daemon_options.h"

#include "base/error.h"

namespace tinyot::tools {
namespace {

constexpr const char* kDefaultServer = "unix:/run/tinyot/tinyot.sock";

}  // namespace

void add_server_options(Options& options) {
  options.group("Daemon")
      .value("server",
             "this party's daemon: unix:PATH of its socket, or HOST:PORT with the options of TLS",
             kDefaultServer)
      .value("tls-ca", "FILE of the certificate that signed the daemon's, for HOST:PORT")
      .value("tls-certificate", "FILE of this client's certificate")
      .value("tls-key", "FILE of its private key");
}

service::ServerAddress server_address_from(const CommandLine& line) {
  service::ServerAddress address{line.text("server"), {}};
  const std::vector<std::string> names = {"tls-ca", "tls-certificate", "tls-key"};
  std::vector<std::string> missing;
  for (const std::string& name : names)
    if (!line.has(name)) missing.push_back("--" + name);
  if (missing.empty())
    address.tls = {line.text(names[0]), line.text(names[1]), line.text(names[2])};
  else if (missing.size() < names.size())
    refuse_missing(missing, ": TLS takes a certificate of each side and this one's key");
  if (address.text.starts_with("unix:") == address.tls.has_value())
    throw UsageError(address.tls ? "--tls-ca, --tls-certificate and --tls-key are for --server "
                                   "HOST:PORT, not for a socket"
                                 : "--server " + address.text +
                                       " requires --tls-ca, --tls-certificate and --tls-key; a "
                                       "socket on this machine is unix:PATH");
  return address;
}

}  // namespace tinyot::tools
