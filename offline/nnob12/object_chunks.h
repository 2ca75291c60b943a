// Chunks of objects. A chunk's messages are small, its intermediate values fit in the cache, and it
// has its own hash key, so its tweaks start at 0.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "checks/session.h"
#include "crypto/tweak_hash.h"

namespace tinyot::offline {

struct ObjectChunk {
  std::size_t first;  // a multiple of 64
  std::size_t count;
  std::size_t number = 0;  // of the chunk among those of its batch
};
inline constexpr std::size_t kChunkObjects = std::size_t{1} << 14;

inline std::vector<ObjectChunk> object_chunks(std::size_t total,
                                              std::size_t objects = kChunkObjects) {
  std::vector<ObjectChunk> chunks;
  for (std::size_t first = 0; first < total; first += objects)
    chunks.push_back({first, std::min(objects, total - first), chunks.size()});
  return chunks;
}

// H for one chunk of a session's leaky objects. `owner` is the direction, `batch` the number of the
// batch if the kind has several, each of fewer than 2^32 chunks.
inline crypto::TweakHash hash_of_chunk(const checks::Session& session, crypto::Phase kind,
                                       Party owner, const ObjectChunk& chunk,
                                       std::uint64_t batch = 0) {
  return crypto::TweakHash(session.id(), {kind, letter(owner), (batch << 32) | chunk.number});
}

}  // namespace tinyot::offline
