// What is in a store, as `tinyot store info` shows it.
#pragma once

#include <array>
#include <cstdint>

#include "storage/store.h"

namespace tinyot::storage {

struct KindInventory {
  std::uint64_t made = 0;
  std::uint64_t locked = 0;    // of these, not confirmed by the peer
  std::uint64_t reserved = 0;  // handed out, planned or burnt
  std::uint64_t planned = 0;   // of these, set aside for a run to come
  std::uint64_t burnt = 0;     // of these, passed over because the peer was ahead
  std::uint64_t left = 0;
  std::uint64_t bytes = 0;
};

struct Inventory {
  Manifest manifest;
  KeyProtection protection = KeyProtection::ByPermissions;
  bool keys_are_gone = false;
  std::array<KindInventory, kMaterialKinds> kinds{};
  std::vector<PlannedReservation> planned;
  AttemptTotals attempts;
  std::uint64_t store_bytes = 0;

  const KindInventory& of(MaterialKind kind) const { return kinds[static_cast<std::size_t>(kind)]; }
};

Inventory take_inventory(const Store& store);

}  // namespace tinyot::storage
