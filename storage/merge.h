// One store out of all shards of a session.
#pragma once

#include <filesystem>
#include <optional>
#include <span>

#include "storage/key_table.h"

namespace tinyot::storage {

struct Merged {
  bool was_done = false;  // by an earlier call: nothing has changed
  std::uint64_t batches = 0;
  std::uint64_t bytes = 0;
};

// Moves what the shards hold into a new store in `out`, in the order of their numbers; both
// parties' merged stores then belong together as their shards did. Batches keep their sealing. The
// shards serve nothing more from the beginning, and are dead afterwards; if this is cut off at any
// time, the same call completes it, and until then nothing can be used. Once it is complete, the
// same call says so. Fails: StoreError if the shards are not all of one session, complete, unlocked
// and unused; then nothing has changed.
Merged merge_shards(const std::filesystem::path& out, std::span<const std::filesystem::path> shards,
                    const std::optional<StoreKey>& store_key);

}  // namespace tinyot::storage
