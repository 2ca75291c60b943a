#include "tools/cli/endpoint.h"

#include <algorithm>

#include "base/error.h"
#include "tools/cli/failure.h"
#include "tools/cli/log.h"

namespace tinyot::tools {

void add_endpoint_options(Options& options) {
  options.group("Peer")
      .value("party", "A or B")
      .value("listen", "HOST:PORT to listen on for the peer")
      .value("connect", "HOST:PORT where the peer listens")
      .alias("peer")
      .value(
          "key",
          "FILE of this party's private key and certificate (tinyot keygen); required unless the "
          "address is a loopback address")
      .value(
          "peer-key",
          "fingerprint of the peer's key, or @FILE with the fingerprint or the peer's certificate");
  add_timeout_options(options);
  options
      .flag("insecure-plaintext",
            "no TLS although the address is not a loopback address: inside a tunnel that encrypts "
            "and authenticates")
      .advanced();
}

Endpoint endpoint_from(const CommandLine& line, std::chrono::seconds idle_min) {
  if (line.has("listen") == line.has("connect"))
    throw UsageError("give one of --listen HOST:PORT and --connect HOST:PORT");
  const bool listen = line.has("listen");
  engine::PeerOptions options{
      .listen = listen,
      .address = net::parse_address(line.text(listen ? "listen" : "connect")),
      .timeouts = timeouts_from(line),
      .plaintext_allowed = line.has("insecure-plaintext")};
  options.timeouts.idle = std::max<std::chrono::milliseconds>(options.timeouts.idle, idle_min);
  if (!line.common().quiet)
    options.rejected = [](const std::string& text, Remedy remedy) {
      log_line(LogLevel::Warning, with_remedy(text, remedy));
    };
  if (line.has("key") != line.has("peer-key"))
    throw UsageError(
        "--key and --peer-key go together: this party's key, and the peer's fingerprint");
  if (line.has("key")) engine::authenticate(options, line.text("key"), line.text("peer-key"));
  if (options.plaintext_allowed && options.tls)
    throw UsageError("--insecure-plaintext and --key exclude each other");
  engine::require_usable(options);
  if (!options.tls && !net::is_loopback(options.address))
    log_line(LogLevel::Warning,
             "--insecure-plaintext: nothing on the way to " + net::text_of(options.address) +
                 " is encrypted, and any process that answers there is taken for the peer;"
                 " this is safe only inside a tunnel that encrypts and authenticates");
  return engine::endpoint_with(std::move(options));
}

}  // namespace tinyot::tools
