// The state of a store, and what becomes of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tinyot/export.h"

namespace tinyot {

// Open: more units may follow. Complete: the requested ANDs are made. Revoked: a check failed or
// the session was retired; all keys are erased.
enum class StoreState : std::uint8_t { Open = 0, Complete = 1, Revoked = 2 };
TINYOT_API std::string_view name_of(StoreState state);

// What protects the keys of a store.
enum class KeyProtection : std::uint32_t { ByPermissions = 1, ByStoreKey = 2, Erased = 3 };

// Objects of one kind in a store.
struct KindCounts {
  std::uint64_t made = 0;
  std::uint64_t unconfirmed = 0;  // of these, with halves that the peer has not confirmed
  std::uint64_t spent = 0;        // no longer left: served, planned or burnt
  std::uint64_t planned = 0;      // of the spent, reserved for a later run
  std::uint64_t burnt = 0;        // of the spent, skipped because the peer had served more
  std::uint64_t left = 0;
  std::uint64_t bytes = 0;
};

// What is known of a store whose session was ended.
struct RetiredStore {
  std::string reason;                 // recorded in the store
  std::vector<std::string> not_done;  // steps that were not possible, one line each
};

// What came of moving shards into one store.
struct MergedStore {
  bool was_done = false;  // by an earlier call; nothing has changed
  std::uint64_t batches = 0, bytes = 0;
};

}  // namespace tinyot
