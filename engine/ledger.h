// An account, outside the store, of what its owner's runs were given: with it the owner can
// prove that nothing was given twice.
#pragma once

#include <filesystem>
#include <span>

#include "storage/batch.h"
#include "storage/manifest.h"

namespace tinyot::engine {

// Appends a line for each stretch of objects, synced, before any of them is used:
//   SESSION PARTY KIND SHARD FIRST COUNT
// after a newline, if the file does not end with one.
// Objects have the numbers of their making, which a merge does not change. Fails: StoreError.
void enter_into_ledger(const std::filesystem::path& ledger, const storage::Manifest& manifest,
                       std::span<const storage::BatchEntry> batches);

}  // namespace tinyot::engine
