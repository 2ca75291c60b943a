// The two parties' stores hold the two halves of the same objects, and these functions keep them
// consistent: before anything is made or drawn, the parties compare the status of their stores,
// unlock the units that both have, and reserve the same range in both.
#pragma once

#include "checks/session.h"
#include "storage/reservation.h"
#include "storage/store.h"
#include "tinyot/store.h"

namespace tinyot::engine {

// Called before the first byte is sent. Fails: OutOfMaterial if the units of all `stores` together
// do not suffice.
void check_enough(std::span<const storage::Store> stores, const MaterialCounts& needed);

// How far the peer's store may be ahead of this one, in objects of one kind, before an operator has
// to intervene: the objects in between are burnt.
inline constexpr std::uint64_t kBurnMax = std::uint64_t{1} << 24;

// The status of a store, as the parties exchange it.
struct StoreStatus {
  std::uint64_t units_made = 0;
  std::uint64_t units_unlocked = 0;
  MaterialCounts served;
  MaterialCounts confirmed;  // highest known `served` of the other party
};
StoreStatus status_of(const storage::Store& store);

enum class SynchroniseFor {
  Making,  // units that only one of the two has are dropped
  Running,
};

struct StoreStatuses {
  StoreStatus mine, peers;
};
// Role: both, symmetric. Unlocks the units that both have: each party sends the digests of its
// halves. Returns the exchanged statuses; afterwards both stores have the same units unlocked.
// Other runs of both may unlock and use the same units at the same time. Wire: 1 message each way,
// and 3 more if units are to be unlocked: 32 bytes per batch. Fails: Disagreement if one of the
// stores is an older copy of itself, by the other party's record, or if the halves do not match.
StoreStatuses synchronise(checks::Session& session, storage::Store& store, SynchroniseFor purpose);

// Role: both, symmetric. Each party tells the other that its half is complete, and records the
// other's confirmation. Wire: 1 message each way.
void confirm_completion(checks::Session& session, storage::Store& store);

// Role: A grants, B takes. On return both have durably reserved the range, from the higher of the
// two positions on; the objects in between are burnt. The range has what is needed, or what is
// preferred if A's store has as much. Wire: 1 message of A, then 1 of B. Fails: OutOfMaterial;
// Disagreement if the peer is further ahead than kBurnMax, or grants objects that have been served.
storage::Grant grant_with_peer(checks::Session& session, storage::Store& store,
                               const StoreStatuses& statuses, const MaterialCounts& needed,
                               bool is_plan, const std::optional<MaterialCounts>& preferred = {});

// synchronise, grant_with_peer and hold.
storage::Reservation reserve_with_peer(checks::Session& session, storage::Store& store,
                                       const MaterialCounts& needed);
// The same from the shards of a session, in their order: the first gives what it has, the next one
// what is missing.
storage::ReservationChain reserve_with_peer(checks::Session& session,
                                            std::span<storage::Store> shards,
                                            const MaterialCounts& needed);

// What a planned reservation of the store has; nothing if there is none with this number.
MaterialCounts reserved_in(const storage::Store& store, std::uint64_t plan);

// Role: both, symmetric. Takes a planned reservation, after synchronise().
// Wire: 1 message each way.
// Fails: Disagreement if one of the stores does not hold it, or not the same range; if the peer's
// does not, this party's reservation is burnt too. OutOfMaterial if it holds less than `needed`.
storage::Reservation claim_with_peer(checks::Session& session, storage::Store& store,
                                     std::uint64_t plan, const MaterialCounts& needed);

// Role: both, symmetric; after synchronise(). Compares the halves that both stores hold, by digest;
// consumes nothing. Other runs may go on at the same time, and change either party's position.
// `mine` is in order of kind and index. Wire: 1 message each way, then 32 bytes per batch.
PeersHalves compare_halves(checks::Session& session, const storage::Store& store,
                           std::span<const storage::BatchEntry> mine);

}  // namespace tinyot::engine
