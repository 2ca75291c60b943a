// Material that a connection holds for its next runs. A reservation waits for the disks of both
// parties, which takes longer than a short run; so one is made for several short runs. What is held
// when the connection ends is lost.
#pragma once

#include <cstdint>

#include "checks/session.h"
#include "storage/reservation.h"
#include "storage/store.h"

namespace tinyot::engine {

// What is reserved at a time for runs like one that needs `needed` for its `ands` ANDs, if as much
// is left.
MaterialCounts in_advance(const MaterialCounts& needed, std::uint64_t ands,
                          std::uint64_t reserve_ahead_ands);

class ReservationCache {
 public:
  // A reservation is for `ands` ANDs; larger runs get a reservation of their own. With 0, nothing
  // is reserved before a run begins.
  explicit ReservationCache(std::uint64_t ands) : ands_(ands) {}

  bool holds(const MaterialCounts& needed) const;

  // Role: both, symmetric. Holds at least `needed` on return, which is for `ands` ANDs. Returns
  // what has been reserved now; null if enough was held. Wire: nothing, or as synchronise() and
  // grant_with_peer(). Fails: as these two.
  const storage::Reservation* reserve(checks::Session& session, storage::Store& store,
                                      const MaterialCounts& needed, std::uint64_t ands);
  material::Source& source() { return held_; }

 private:
  std::uint64_t ands_;
  storage::ReservationChain held_{{}};
};

}  // namespace tinyot::engine
