// Runs on stored material.
#include <algorithm>

#include "base/error.h"
#include "engine/connection.h"
#include "engine/ledger.h"
#include "engine/run_plan.h"
#include "engine/stored_session.h"
#include "engine/synchronise.h"

namespace tinyot::engine {
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

RunReport evaluate_stored(const RunPlan& plan, StoredSession& stored, checks::Session& session,
                          circuit::CircuitRounds& rounds, const online::BundleValues& inputs,
                          const online::SharedInputs& shared, Advance* advance) {
  const MaterialCounts needed = plan.material(stored.form(), plan.ands());
  RunReport report;
  const auto record = [&](std::span<const storage::Reservation> reserved) {
    for (const storage::Reservation& link : reserved) {
      if (plan.request.ledger)
        append_to_ledger(*plan.request.ledger, stored.manifest(), link.batches());
      report.burnt += link.burnt();
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
  report.result = online::run_circuit(session, material, needed, stored.form(), rounds, inputs,
                                      shared, plan.progress());
  report.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

void add_costs(StoredSession& stored, RunReport& report) {
  report.security = stored.manifest();
  for (const storage::Store& store : stored.stores()) {
    report.store_bytes += store.store_bytes();
    report.attempts += store.attempts();
  }
  report.phases = stored.log().phases();
}

RunReport run_stored(const RunPlan& plan, const online::BundleValues& inputs,
                     const std::stop_token& cancel) {
  StoredSession stored(plan.request);
  if (!plan.request.reservation) stored.require_material(plan.material(stored.form(), plan.ands()));
  circuit::CircuitRounds rounds = plan.rounds();
  const auto& reservation = plan.request.reservation;
  stored.connect(plan.parameters(), reservation ? std::to_string(*reservation) : "none", cancel);
  RunReport report;
  stored.with_peer([&](checks::Session& session) {
    report = evaluate_stored(plan, stored, session, rounds, inputs, {});
  });
  add_costs(stored, report);
  return report;
}

storage::PlannedReservation reserve(const RunRequest& request, const LoadedCircuit& circuit) {
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
  return {granted.plan, granted.range};
}

}  // namespace tinyot::engine
