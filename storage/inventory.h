// The counts of a store.
#pragma once

#include <array>
#include <cstdint>

#include "storage/store.h"

namespace tinyot::storage {

struct Inventory {
  Manifest manifest;
  KeyProtection protection = KeyProtection::ByPermissions;
  bool keys_are_gone = false;
  std::array<KindCounts, kMaterialKinds> kinds{};
  std::vector<PlannedReservation> planned;
  AttemptTotals attempts;
  std::uint64_t store_bytes = 0;

  const KindCounts& of(MaterialKind kind) const { return kinds[static_cast<std::size_t>(kind)]; }
};

Inventory take_inventory(const Store& store);

}  // namespace tinyot::storage
