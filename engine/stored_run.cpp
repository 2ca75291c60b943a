// Runs on stored material.
#include <algorithm>

#include "base/error.h"
#include "base/hex.h"
#include "engine/connection.h"
#include "engine/ledger.h"
#include "engine/run_plan.h"
#include "engine/stored_session.h"
#include "engine/synchronise.h"

namespace tinyot {
namespace engine {
namespace {

// The material of a run, reserved or claimed for it alone.
storage::ReservationChain take_material(const RunRequest& request, StoredSession& stored,
                                        checks::Session& session, const MaterialCounts& needed) {
  if (!request.reservation) return reserve_with_peer(session, stored.stores(), needed);
  storage::Store& store = stored.stores().front();
  synchronise(session, store, SynchroniseFor::Running);
  std::vector<storage::Reservation> claimed;
  claimed.push_back(claim_with_peer(session, store, *request.reservation, needed));
  return storage::ReservationChain(std::move(claimed));
}

}  // namespace

RunResult evaluate_stored(const RunPlan& plan, StoredSession& stored, checks::Session& session,
                          circuit::CircuitRounds& rounds, const StoredInputs& inputs,
                          Advance* advance, const std::string& origin) {
  const MaterialCounts needed = plan.material(stored.form(), plan.ands());
  RunResult result;
  const auto record = [&](std::span<const storage::Reservation> reserved) {
    for (const storage::Reservation& link : reserved) {
      if (plan.request.ledger)
        append_to_ledger(*plan.request.ledger, stored.manifest(), link.batches());
      result.burnt += link.burnt();
    }
  };
  storage::ReservationChain own{{}};
  {
    const net::PhaseLog::Scope phase(stored.log(), session.channel(), "reserve", plan.ands());
    if (advance != nullptr) {
      if (const storage::Reservation* const reserved =
              advance->reserve(session, stored.stores().front(), needed, plan.ands()))
        record(std::span(reserved, 1));
    } else {
      own = take_material(plan.request, stored, session, needed);
      record(own.links());
    }
  }
  material::Source& material = advance != nullptr ? advance->source() : own;
  const auto start = std::chrono::steady_clock::now();
  online::Evaluation evaluation =
      online::run_circuit(session, material, needed, stored.form(), rounds, inputs.values,
                          inputs.shared, plan.progress());
  result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  set_evaluation(result, plan.circuit.info(), std::move(evaluation), origin);
  return result;
}

void add_costs(StoredSession& stored, RunResult& result) {
  storage::AttemptTotals attempts;
  for (const storage::Store& store : stored.stores()) {
    result.store_bytes += store.store_bytes();
    attempts += store.attempts();
  }
  result.session = hex_of(session_id_of(stored.manifest()));
  result.security = stored.security(attempts);
  result.phases = stored.log().phases();
}

RunResult run_stored(const RunPlan& plan, const online::BundleValues& inputs,
                     const std::stop_token& cancel) {
  StoredSession stored(plan.request);
  if (!plan.request.reservation) stored.require_material(plan.material(stored.form(), plan.ands()));
  circuit::CircuitRounds rounds = plan.rounds();
  const auto& reservation = plan.request.reservation;
  stored.connect(plan.parameters(), reservation ? std::to_string(*reservation) : "none", cancel);
  RunResult result;
  stored.with_peer([&](checks::Session& session) {
    result = evaluate_stored(plan, stored, session, rounds, {inputs, {}});
  });
  add_costs(stored, result);
  return result;
}

}  // namespace engine

ReservedMaterial reserve(const RunRequest& request, const engine::LoadedCircuit& circuit) {
  using namespace engine;
  if (request.live || request.reservation || request.stores.size() != 1)
    throw UsageError("material is reserved in one store, for a later run");
  const RunPlan plan(request, circuit);
  StoredSession stored(request);
  const MaterialCounts needed = plan.material(stored.form(), plan.ands());
  stored.require_material(needed);
  stored.connect(plan.parameters(), "to be made", {});
  storage::Grant granted;
  stored.with_peer([&](checks::Session& session) {
    const net::PhaseLog::Scope phase(stored.log(), session.channel(), "reserve", plan.ands());
    storage::Store& store = stored.stores().front();
    const StoreStatuses statuses = synchronise(session, store, SynchroniseFor::Running);
    granted = grant_with_peer(session, store, statuses, needed, true);
  });
  ReservedMaterial reserved{granted.plan, granted.range.start, {}};
  for (const MaterialKind kind : kAllMaterialKinds)
    reserved.count[kind] = granted.range.end[kind] - granted.range.start[kind];
  return reserved;
}

}  // namespace tinyot
