#include "engine/endpoint.h"

#include "base/error.h"
#include "engine/key_file.h"
#include "net/transport_stream.h"

namespace tinyot {
namespace {

engine::PeerOptions tcp(bool listen, std::string_view address, const Timeouts& timeouts) {
  return {.listen = listen,
          .address = net::parse_address(std::string(address)),
          .timeouts = {.connect = timeouts.connect, .idle = timeouts.idle}};
}

}  // namespace

namespace engine {

Endpoint endpoint_with(PeerOptions options) {
  return Endpoint(std::make_shared<const Endpoint::State>(Endpoint::State{std::move(options)}));
}

const PeerOptions& options_of(const Endpoint& endpoint) {
  static const PeerOptions kNoPeer;
  return endpoint.state() != nullptr ? endpoint.state()->options : kNoPeer;
}

void authenticate(PeerOptions& options, const std::string& key_file, const std::string& peers_key) {
  if (options.open_stream) throw UsageError("a transport authenticates the peer itself");
  const net::Identity mine = read_identity(key_file);
  const net::Fingerprint peers = peer_key_from(peers_key);
  if (peers == mine.fingerprint())
    throw UsageError("the key that was given for the peer is this party's own key",
                     Remedy::CheckPinnedKey);
  options.tls = std::make_shared<net::TlsAdmission>(mine, peers);
}

void require_usable(const PeerOptions& options) {
  if (options.open_stream) return;
  if (options.address.host.empty())
    throw UsageError("the request has no endpoint, so there is no peer to connect to");
  if (options.tls || options.plaintext_allowed || net::is_loopback(options.address)) return;
  throw UsageError(
      net::text_of(options.address) + " is not a loopback address, so both parties need keys",
      Remedy::Authenticate);
}

}  // namespace engine

Endpoint Endpoint::listen(std::string_view address, Timeouts timeouts) {
  return engine::endpoint_with(tcp(true, address, timeouts));
}

Endpoint Endpoint::connect(std::string_view address, Timeouts timeouts) {
  return engine::endpoint_with(tcp(false, address, timeouts));
}

Endpoint Endpoint::over(std::function<std::unique_ptr<Transport>()> open, Timeouts timeouts) {
  engine::PeerOptions options;
  options.timeouts = {.connect = timeouts.connect, .idle = timeouts.idle};
  options.open_stream = [open = std::move(open), idle = timeouts.idle] {
    auto transport = open();
    if (!transport) throw NetworkError("no transport to the peer was opened");
    return net::make_transport_stream(std::move(transport), idle);
  };
  return engine::endpoint_with(std::move(options));
}

Endpoint& Endpoint::authenticate(const std::filesystem::path& my_key,
                                 const std::string& peers_key) {
  engine::PeerOptions options = engine::options_of(*this);
  engine::authenticate(options, my_key.string(), peers_key);
  return *this = engine::endpoint_with(std::move(options));
}

Endpoint& Endpoint::allow_plaintext() {
  engine::PeerOptions options = engine::options_of(*this);
  options.plaintext_allowed = true;
  return *this = engine::endpoint_with(std::move(options));
}

Endpoint& Endpoint::log_rejections(std::function<void(const std::string&, Remedy)> log) {
  engine::PeerOptions options = engine::options_of(*this);
  options.rejected = std::move(log);
  return *this = engine::endpoint_with(std::move(options));
}

std::string make_key_file(const std::filesystem::path& file) {
  const net::Identity identity = net::Identity::generate();
  engine::write_identity(identity, file);
  return net::text_of(identity.fingerprint());
}

}  // namespace tinyot
