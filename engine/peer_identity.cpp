#include "engine/peer_identity.h"

#include "base/error.h"

namespace tinyot::engine {

void check_peer(const storage::Manifest& manifest, const Endpoint& endpoint,
                const std::string& what) {
  const PeerOptions& options = options_of(endpoint);
  if (manifest.peer.empty() || manifest.peer == options.peer()) return;
  const std::string now = options.tls ? "with " + options.peer() : "over plain TCP";
  throw StoreError(what + " was made with the peer " + manifest.peer + ", not " + now +
                       ": connect to that peer, or use another store or session",
                   Remedy::GivePeersKey);
}

}  // namespace tinyot::engine
