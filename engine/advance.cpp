#include "engine/advance.h"

#include <algorithm>

#include "engine/synchronise.h"

namespace tinyot::engine {

bool Advance::holds(const MaterialCounts& needed) const {
  const MaterialCounts left = held_.left();
  return std::ranges::all_of(kAllMaterialKinds,
                             [&](MaterialKind kind) { return left[kind] >= needed[kind]; });
}

const storage::Reservation* Advance::reserve(checks::Session& session, storage::Store& store,
                                             const MaterialCounts& needed, std::uint64_t ands) {
  held_.drop_empty();
  if (holds(needed)) return nullptr;
  const std::uint64_t runs = ands_ / std::max<std::uint64_t>(ands, 1);
  MaterialCounts preferred = needed;
  for (const MaterialKind kind : kAllMaterialKinds)
    preferred[kind] *= std::max<std::uint64_t>(runs, 1);
  const StoreStatuses statuses = synchronise(session, store, SynchroniseFor::Running);
  held_.add(store.hold(grant_with_peer(session, store, statuses, needed, false, preferred)));
  return &held_.links().back();
}

}  // namespace tinyot::engine
