#include "engine/advance.h"

#include <algorithm>

#include "engine/synchronise.h"

namespace tinyot::engine {

MaterialCounts in_advance(const MaterialCounts& needed, std::uint64_t ands,
                          std::uint64_t advance_ands) {
  const std::uint64_t runs = advance_ands / std::max<std::uint64_t>(ands, 1);
  MaterialCounts counts = needed;
  for (const MaterialKind kind : kAllMaterialKinds)
    counts[kind] *= std::max<std::uint64_t>(runs, 1);
  return counts;
}

bool Advance::holds(const MaterialCounts& needed) const { return held_.left().covers(needed); }

const storage::Reservation* Advance::reserve(checks::Session& session, storage::Store& store,
                                             const MaterialCounts& needed, std::uint64_t ands) {
  held_.drop_empty();
  if (holds(needed)) return nullptr;
  const MaterialCounts preferred = in_advance(needed, ands, ands_);
  const StoreStatuses statuses = synchronise(session, store, SynchroniseFor::Running);
  held_.add(store.hold(grant_with_peer(session, store, statuses, needed, false, preferred)));
  return &held_.links().back();
}

}  // namespace tinyot::engine
