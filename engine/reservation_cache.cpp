#include "engine/reservation_cache.h"

#include <algorithm>

#include "engine/synchronise.h"

namespace tinyot::engine {

MaterialCounts in_advance(const MaterialCounts& needed, std::uint64_t ands,
                          std::uint64_t reserve_ahead_ands) {
  const std::uint64_t runs = reserve_ahead_ands / std::max<std::uint64_t>(ands, 1);
  MaterialCounts counts = needed;
  for (const MaterialKind kind : kAllMaterialKinds)
    counts[kind] *= std::max<std::uint64_t>(runs, 1);
  return counts;
}

bool ReservationCache::holds(const MaterialCounts& needed) const {
  return held_.left().covers(needed);
}

const storage::Reservation* ReservationCache::reserve(checks::Session& session,
                                                      storage::Store& store,
                                                      const MaterialCounts& needed,
                                                      std::uint64_t ands) {
  held_.drop_empty();
  if (holds(needed)) return nullptr;
  const MaterialCounts preferred = in_advance(needed, ands, ands_);
  const StoreStatuses statuses = synchronise(session, store, SynchroniseFor::Running);
  held_.add(store.hold(grant_with_peer(session, store, statuses, needed, false, preferred)));
  return &held_.links().back();
}

}  // namespace tinyot::engine
