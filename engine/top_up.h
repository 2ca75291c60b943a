// Adds units to a complete store in a further job, on which both parties agree. A job is recorded
// in both stores before its first unit is begun, so that it can be continued after a kill at any
// time.
#pragma once

#include "checks/session.h"
#include "engine/plan.h"
#include "engine/synchronise.h"
#include "storage/store.h"

namespace tinyot::engine {

// The ANDs and the aBits for inputs that these objects are enough for.
Demand capacity_of(const MaterialCounts& counts, AndMaterial form);
// The preprocessing that makes at least so much.
Demand demand_for(const MaterialCounts& needed, AndMaterial form);

// What has to be made so that `target` is left where `left` is: nothing, or at least one AND, as
// inputs alone cannot be made. Many inputs come with as many ANDs, so that no unit of `unit` ANDs
// needs much more memory than others.
Demand shortfall(const Demand& target, const MaterialCounts& left, AndMaterial form,
                 std::uint64_t unit);

// The job that `request`, not resolved yet, begins in a complete store, of which `left` is left.
// Fails: UsageError as resolve().
JobPlan next_job(const PreprocessRequest& request, const MaterialCounts& left);

// What is left for both parties' runs, the same at both; after synchronise(), which unlocked all
// units that both have.
MaterialCounts left_at_both(const storage::Store& store, const StoreStatuses& statuses);

// Role: both, symmetric; after synchronise(). `plan` is the last job of the store. True if it is to
// be finished: it is incomplete at both parties, with the same units. If only one of the two has
// recorded it, because one was interrupted before it could, the job is forgotten; it has no units
// then. Wire: 1 message each way. Fails: Disagreement if the parties' last jobs differ;
// PeerCheated("store status").
bool reconcile_last_job(checks::Session& session, storage::Store& store, const JobPlan& plan);

// Role: both, symmetric; after reconcile_last_job() has returned false. Records the next job. Wire:
// 1 message each way. Fails: Disagreement naming what differs.
void begin_next_job(checks::Session& session, storage::Store& store, const JobPlan& plan);

}  // namespace tinyot::engine
