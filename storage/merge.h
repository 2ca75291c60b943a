// Merges all shards of a session into one store.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>

#include "storage/key_table.h"
#include "tinyot/store_state.h"

namespace tinyot::storage {

// Moves the batches of all shards into a new store in `out`, in order of shard number, so that both
// parties' merged stores match. Batches keep their seals. From the start of the merge the shards
// serve no material; at its end they are revoked. An interrupted merge is completed by the same
// call; until then no material can be used. After completion the same call returns was_done. Fails:
// StoreError if the shards are not all of one session, complete, unlocked and unused; then nothing
// has changed. The observer gets the bytes moved so far, and of all shards.
MergedStore merge_shards(
    const std::filesystem::path& out, std::span<const std::filesystem::path> shards,
    const std::optional<StoreKey>& store_key,
    const std::function<void(std::uint64_t done, std::uint64_t total)>& observer = {});

}  // namespace tinyot::storage
