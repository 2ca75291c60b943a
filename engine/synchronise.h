// Both parties' stores hold two halves of the same objects, and this keeps them together: before
// anything is made or drawn, the parties compare where their stores stand, unlock what both have,
// and take the same range out of both.
#pragma once

#include "checks/session.h"
#include "storage/reservation.h"
#include "storage/store.h"

namespace tinyot::engine {

// Before the first byte is sent. Fails: OutOfMaterial if the units that `stores` have together
// would not suffice.
void check_enough(std::span<const storage::Store> stores, const MaterialCounts& needed);

// How far the peer's store may be ahead of this one, in objects of one kind, before a person has to
// look at it: what lies between is burnt.
inline constexpr std::uint64_t kBurnMax = std::uint64_t{1} << 24;

// Where both stores stand.
struct StoreStatus {
  std::uint64_t units_made = 0;
  std::uint64_t units_unlocked = 0;
  MaterialCounts position;
  MaterialCounts confirmed;  // the position that the other party is known to have had
};
StoreStatus status_of(const storage::Store& store);

enum class SynchroniseFor {
  Making,  // units that only one of the two has are dropped
  Running,
};

// Role: both, symmetric. Units that both have are unlocked: each party tells the digests of its
// halves. Returns what the two have told each other; afterwards both stores have the same units
// unlocked. Other runs of both may unlock and use the same units meanwhile. Wire: 1 message each
// way, and if units are to be unlocked 3 more: 32 bytes a batch. Fails: StoreError if this store is
// an older copy of itself, Disagreement if the peer's is, or if the halves do not belong together.
struct StoreStatuses {
  StoreStatus mine, peers;
};
StoreStatuses synchronise(checks::Session& session, storage::Store& store, SynchroniseFor purpose);

// Role: both, symmetric. Each tells the other that its half is complete, and remembers that it was
// told. Wire: 1 message each way.
void confirm_completion(checks::Session& session, storage::Store& store);

// Role: A grants, B takes. Both have reserved the range durably when it returns, from the higher of
// both positions on; what lies between is burnt. Wire: 1 message of A, then 1 of B. Fails:
// OutOfMaterial; Disagreement if the peer is further ahead than kBurnMax, or gives out what has
// been served.
storage::Grant grant_with_peer(checks::Session& session, storage::Store& store,
                               const StoreStatuses& statuses, const MaterialCounts& needed,
                               bool is_plan);

// synchronise, grant_with_peer and hold.
storage::Reservation reserve_with_peer(checks::Session& session, storage::Store& store,
                                       const MaterialCounts& needed);
// The same from the shards of a session, in their order: the first gives what it has, the next one
// what is missing.
storage::ReservationChain reserve_with_peer(checks::Session& session,
                                            std::span<storage::Store> shards,
                                            const MaterialCounts& needed);

// Role: both, symmetric. Takes a planned reservation, after synchronise().
// Wire: 1 message each way.
// Fails: Disagreement if one of the stores does not hold it, or not the same range; if it is the
// peer's, mine is burnt too. OutOfMaterial if it holds less than `needed`.
storage::Reservation claim_with_peer(checks::Session& session, storage::Store& store,
                                     std::uint64_t plan, const MaterialCounts& needed);

struct Comparison {
  // batches whose other half the peer has, as it told when they were made
  std::uint64_t matched = 0;
  // likewise, but cut at a run's end since: compared by index and count only
  std::uint64_t cut = 0;
  // which one of the two has given away already: the next run passes over them
  std::uint64_t passed_over = 0;
  std::uint64_t different = 0;
  static constexpr std::size_t kLinesMax = 100;
  std::vector<std::string> differences;  // the first of them, a line each
};

// Role: both, symmetric. Compares the halves that both stores hold, by digest; uses nothing up.
// `mine` is in order of kind and index. Wire: 1 message each way, then 32 bytes a batch.
Comparison compare_halves(checks::Session& session, const storage::Store& store,
                          std::span<const storage::BatchEntry> mine);

}  // namespace tinyot::engine
