#include "storage/inventory.h"

namespace tinyot::storage {

Inventory take_inventory(const Store& store) {
  Inventory inventory{store.manifest(),      store.protection(), store.keys_are_gone(), {},
                      store.marks().planned, store.attempts(),   store.store_bytes()};
  const Marks& marks = store.marks();
  const MaterialCounts left = store.left();
  for (const MaterialKind kind : kAllMaterialKinds) {
    KindCounts& entry = inventory.kinds[static_cast<std::size_t>(kind)];
    entry = {.made = marks.made[kind],
             .locked = marks.made[kind] - marks.unlocked[kind],
             .reserved = marks.position[kind],
             .burnt = marks.burnt[kind],
             .left = left[kind],
             .bytes = store.bytes_of(kind)};
    for (const PlannedReservation& planned : marks.planned)
      entry.planned += planned.range.end[kind] - planned.range.start[kind];
  }
  return inventory;
}

}  // namespace tinyot::storage
