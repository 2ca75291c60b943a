// The end of a store by its owner's will, in whatever state it is.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "storage/key_table.h"

namespace tinyot::storage {

struct Retired {
  std::string reason;                 // why the session is dead, as the store says from now on
  std::vector<std::string> not_done;  // what else a retirement does; a line each
};

// Overwrites all keys of a store, durably, and marks its session dead as far as that can be done. A
// store that cannot be opened, because it is corrupt, a copy, open to others or not whole, loses
// its keys nevertheless. Fails: StoreError if it is in use, if there are no keys or they cannot be
// written to, or if a store key is given for a store that has none, or none for one that is sealed.
Retired retire_store(const std::filesystem::path& directory,
                     const std::optional<StoreKey>& store_key);

}  // namespace tinyot::storage
