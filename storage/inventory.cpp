#include "storage/inventory.h"

namespace tinyot {

Inventory take_inventory(const Store& store) {
  Inventory inventory{store.manifest(), {}, store.store_bytes()};
  const MaterialCounts made = store.made(), position = store.position(), left = store.left(), burnt = store.burnt();
  for (const MaterialKind kind : kAllMaterialKinds)
    inventory.kinds[static_cast<std::size_t>(kind)] = {made[kind], position[kind], burnt[kind], left[kind], store.bytes_of(kind)};
  return inventory;
}

}  // namespace tinyot
