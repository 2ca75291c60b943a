#include "storage/inventory.h"

namespace tinyot::storage {

Inventory take_inventory(const Store& store) {
  Inventory inventory{store.manifest(),        store.protection(), store.keys_are_gone(), {},
                      store.cursors().planned, store.attempts(),   store.store_bytes()};
  const MaterialCursors& cursors = store.cursors();
  const MaterialCounts left = store.left();
  for (const MaterialKind kind : kAllMaterialKinds) {
    KindCounts& entry = inventory.kinds[static_cast<std::size_t>(kind)];
    entry = {.made = cursors.made[kind],
             .unconfirmed = cursors.made[kind] - cursors.unlocked[kind],
             .spent = cursors.served[kind],
             .burnt = cursors.burnt[kind],
             .left = left[kind],
             .bytes = store.bytes_of(kind)};
    for (const PlannedReservation& planned : cursors.planned)
      entry.planned += planned.range.end[kind] - planned.range.start[kind];
  }
  return inventory;
}

}  // namespace tinyot::storage
