// A store belongs to one peer: the one whose key was pinned when it was made.
#pragma once

#include <filesystem>

#include "storage/manifest.h"
#include "tools/endpoint.h"

namespace tinyot {

// To be called before anything is said to the peer, who will be the one that `endpoint` pins or nobody. A store that was made over
// plain TCP knows no peer, and may go on with any.
// Fails: StoreError if the store in `dir` was made with another peer, or over TLS and would go on over plain TCP.
void check_peer(const Manifest& manifest, const Endpoint& endpoint, const std::filesystem::path& dir);

}  // namespace tinyot
