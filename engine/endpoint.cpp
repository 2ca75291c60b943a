#include "engine/endpoint.h"

#include "base/error.h"
#include "engine/key_file.h"

namespace tinyot::engine {

void authenticate(Endpoint& endpoint, const std::string& key_file, const std::string& peers_key) {
  if (endpoint.open_stream) throw UsageError("a transport authenticates the peer itself");
  const net::Identity mine = read_identity(key_file);
  const net::Fingerprint peers = peer_key_from(peers_key);
  if (peers == mine.fingerprint())
    throw UsageError("the key that was given for the peer is this party's own key",
                     Remedy::CheckPinnedKey);
  endpoint.tls = std::make_shared<net::TlsAdmission>(mine, peers);
}

void require_authenticated(const Endpoint& endpoint) {
  if (endpoint.tls || endpoint.open_stream || net::is_loopback(endpoint.address)) return;
  throw UsageError(
      net::text_of(endpoint.address) + " is not a loopback address, so both parties need keys",
      Remedy::Authenticate);
}

}  // namespace tinyot::engine
