#include "engine/stored_run.h"

#include <algorithm>

#include "base/error.h"
#include "base/hex.h"
#include "engine/bundle_values.h"
#include "engine/connection.h"
#include "engine/ledger.h"
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

StoredRun::StoredRun(const RunRequest& request, LoadedCircuit circuit, StoredSession& stored,
                     RunShared shared, std::optional<OnlinePhase> phase)
    : stored_(stored), circuit_(std::move(circuit)), shared_(std::move(shared)),
      plan_(request, circuit_, stored.form(), shared_.values, phase) {
  plan_.choice.accept(stored.agreement());
}

std::vector<net::Parameter> StoredRun::parameters(const std::vector<net::Parameter>& others) const {
  std::vector<net::Parameter> all = plan_.parameters(shared_.compared);
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

MaterialCounts StoredRun::needed_by(const online::OnlinePhaseEntry& phase) const {
  return phase.material_for(circuit_.info(), plan_.ands_by(phase), plan_.form, circuit_.lanes(),
                            shared_.values);
}

bool StoredRun::has_material(const online::OnlinePhaseEntry& phase,
                             const ReservationCache* cache) const {
  const MaterialCounts needed = needed_by(phase);
  return plan_.request.reservation
             ? reserved_in(stored_.stores().front(), *plan_.request.reservation).covers(needed)
             : (cache != nullptr && cache->holds(needed)) || stored_.has_material(needed);
}

void StoredRun::require_material(const ReservationCache* cache) {
  stored_.require_not_revoked();
  const auto& possible = plan_.choice.possible();
  if (std::ranges::none_of(possible,
                           [&](const auto* phase) { return has_material(*phase, cache); }))
    stored_.require_material(needed_by(*possible.front()));
}

void StoredRun::layer() {
  rounds_.emplace(plan_.rounds());
  if (plan_.request.party == Party::A) plan_.estimate(*rounds_);
}

void StoredRun::take(std::span<const storage::Reservation> reserved) {
  for (const storage::Reservation& link : reserved) {
    if (plan_.request.ledger)
      append_to_ledger(*plan_.request.ledger, stored_.manifest(), link.batches());
    burnt_ += link.burnt();
  }
}

void StoredRun::prepare(checks::Session& session, ReservationCache* cache) {
  plan_.choice.accept(stored_.agreement());
  plan_.choose(session.channel(), session.me(), stored_.link(), [&](const auto& phase) {
    return has_material(phase, cache) && plan_.can_be_prepared_by(phase);
  });
  const auto preparation = plan_.preparation_by(plan_.choice.phase());
  plan_.begin(rounds_);
  needed_ = plan_.material();
  {
    const net::PhaseLog::Scope phase(stored_.log(), session.channel(), "reserve", plan_.ands());
    if (cache != nullptr) {
      if (const storage::Reservation* const reserved =
              cache->reserve(session, stored_.stores().front(), needed_, plan_.ands()))
        take(std::span(reserved, 1));
    } else {
      own_ = take_material(plan_.request, stored_, session, needed_);
      take(own_.links());
    }
  }
  row_check_ = preparation ? preparation->row_check : std::nullopt;
  evaluation_ = plan_.choice.phase().make({.session = session,
                                           .source = cache != nullptr ? cache->source() : own_,
                                           .wanted = needed_,
                                           .form = plan_.form,
                                           .rounds = *rounds_,
                                           .shared = shared_.values,
                                           .preparation = preparation,
                                           .progress = plan_.progress()});
  evaluation_->prepare();
}

RunResult StoredRun::finish(const RunInputs& inputs, const std::string& origin,
                            const std::function<void()>& agree) {
  RunResult result;
  result.burnt = burnt_;
  const auto start = std::chrono::steady_clock::now();
  online::Evaluation evaluation = evaluation_->finish(inputs.values, agree);
  result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  set_evaluation(result, circuit_.info(), std::move(evaluation), origin);
  plan_.describe(result);
  result.row_check = row_check_;
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

RunResult run_stored(const RunRequest& request, const LoadedCircuit& circuit,
                     const RunInputs& inputs, const std::stop_token& cancel) {
  StoredSession stored(request);
  StoredRun run(request, circuit, stored);
  if (!request.reservation) run.require_material(nullptr);
  run.layer();
  stored.connect(run.parameters(inputs.compared),
                 request.reservation ? std::to_string(*request.reservation) : "none", cancel);
  RunResult result;
  stored.with_peer([&](checks::Session& session) {
    run.prepare(session, nullptr);
    result = run.finish(inputs);
  });
  add_costs(stored, result);
  return result;
}

}  // namespace engine

ReservedMaterial reserve(const RunRequest& request, const circuit::Circuit& circuit,
                         std::size_t lanes) {
  engine::check_lanes(lanes);
  if (request.live || request.reservation || request.stores.size() != 1)
    throw UsageError("material is reserved in one store, for a later run");
  engine::StoredSession stored(request);
  const auto loaded = engine::LoadedCircuit::borrowed(circuit, lanes);
  engine::RunPlan plan(request, loaded, stored.form());
  stored.require_material(plan.material());
  stored.connect(plan.parameters(), "to be made", {});
  plan.choice.accept(stored.agreement());
  const MaterialCounts needed = plan.material();
  storage::Grant granted;
  stored.with_peer([&](checks::Session& session) {
    const net::PhaseLog::Scope phase(stored.log(), session.channel(), "reserve", plan.ands());
    storage::Store& store = stored.stores().front();
    const engine::StoreStatuses statuses =
        engine::synchronise(session, store, engine::SynchroniseFor::Running);
    granted = engine::grant_with_peer(session, store, statuses, needed, true);
  });
  ReservedMaterial reserved{granted.plan, granted.range.start, {}};
  for (const MaterialKind kind : kAllMaterialKinds)
    reserved.count[kind] = granted.range.end[kind] - granted.range.start[kind];
  return reserved;
}

}  // namespace tinyot
