// The counts of a store.
#pragma once

#include <array>
#include <cstdint>

#include "storage/store.h"

namespace tinyot::storage {

struct KindInventory {
  std::uint64_t made = 0;
  std::uint64_t locked = 0;    // of these, halves not confirmed by the peer
  std::uint64_t reserved = 0;  // served, planned or burnt
  std::uint64_t planned = 0;   // of these, reserved for a later run
  std::uint64_t burnt = 0;     // of these, skipped because the peer's position was higher
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
