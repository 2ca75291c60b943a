// A record, outside the store, of the material that runs have taken: with it the owner can prove
// that nothing was taken twice.
#pragma once

#include <filesystem>
#include <span>

#include "storage/batch.h"
#include "storage/manifest.h"

namespace tinyot::engine {

// Appends a line for each range of objects, and syncs it, before any of them is used:
//   SESSION PARTY KIND SHARD FIRST COUNT
// after a newline, if the file does not end with one.
// Objects keep the numbers that they were made with, even after a merge. Fails: StoreError.
void append_to_ledger(const std::filesystem::path& ledger, const storage::Manifest& manifest,
                      std::span<const storage::BatchEntry> batches);

}  // namespace tinyot::engine
