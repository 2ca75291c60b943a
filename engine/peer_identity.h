// A session, and so its stores and its session file, belongs to one peer: the one whose key was
// pinned when it was made.
#pragma once

#include <string>

#include "engine/endpoint.h"
#include "storage/manifest.h"

namespace tinyot::engine {

// To be called before anything is sent to the peer, which is the one that `endpoint` pins. What
// was made over plain TCP knows no peer, and may go on with any. `what` is the store or the
// session file that the manifest is of, for the message.
// Fails: StoreError if it was made with another peer, or over TLS and would go on over plain TCP.
void check_peer(const storage::Manifest& manifest, const Endpoint& endpoint,
                const std::string& what);

}  // namespace tinyot::engine
