// Retiring a store: its owner ends the session, whatever state the store is in.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "storage/key_table.h"
#include "tinyot/store_state.h"

namespace tinyot::storage {

// Overwrites all keys of a store, durably, and marks its session as revoked if the store can be
// opened. A store that cannot be opened, because it is corrupt, a copy, open to other users or
// incomplete, has its keys erased all the same. Fails: StoreError if it is in use, if there are no
// keys or they cannot be written, or if the store key is missing or superfluous.
RetiredStore retire_store(const std::filesystem::path& directory,
                          const std::optional<StoreKey>& store_key);

}  // namespace tinyot::storage
