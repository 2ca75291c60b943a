// A session, and so its stores and its session file, belongs to one peer: the one whose key was
// pinned when it was made.
#pragma once

#include <string>

#include "engine/endpoint.h"
#include "storage/manifest.h"

namespace tinyot::engine {

// Call this before anything is sent to the peer, which is the one that `endpoint` pins. A store or
// session made over plain TCP records no peer, and any peer is accepted. `what` names the store or
// session file of the manifest, for the message. Fails: StoreError if it was made with another
// peer, or over TLS and the endpoint is plain TCP.
void check_peer(const storage::Manifest& manifest, const Endpoint& endpoint,
                const std::string& what);

}  // namespace tinyot::engine
