// A run on stored material, in the two steps of an online phase. Internal to this folder.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engine/reservation_cache.h"
#include "engine/run_plan.h"
#include "engine/stored_session.h"
#include "storage/reservation.h"

namespace tinyot::engine {

class StoredRun {
 public:
  // The request and the session outlive this object; `phase` comes before that of the request.
  // Fails: UsageError; nothing is sent.
  StoredRun(const RunRequest& request, LoadedCircuit circuit, StoredSession& stored,
            RunShared shared = {}, std::optional<OnlinePhase> phase = {});
  StoredRun(const StoredRun&) = delete;
  StoredRun& operator=(const StoredRun&) = delete;

  // The inputs come later, after other messages. Fails: UsageError if the run cannot be prepared.
  void set_inputs_later() { plan_.set_inputs_later(stored_.manifest().sigma); }

  const RunPlan& plan() const { return plan_; }
  // The plan's parameters, and the origins of shared values; then `others`.
  std::vector<net::Parameter> parameters(const std::vector<net::Parameter>& others = {}) const;
  // Fails: OutOfMaterial, if what the stores and `cache` have now suffices for no possible phase.
  void require_material(const ReservationCache* cache);

  // Layers a small circuit, before prepare(). Fails: as its generation.
  void layer();

  // Role: both, within the session. Chooses the phase, and takes the material: the reservation of
  // the request, or a new one, or on one store part of what `cache` holds.
  void prepare(checks::Session& session, ReservationCache* cache);
  // Role: both, within the session; once, after prepare(); `agree` as of OnlineEvaluation. Shared
  // outputs are kept as
  // set_evaluation() says. The result is complete only after add_costs().
  RunResult finish(
      const RunInputs& inputs, const std::string& origin = {},
      const std::function<void()>& agree = [] {});

 private:
  MaterialCounts needed_by(const online::OnlinePhaseEntry& phase) const;
  bool has_material(const online::OnlinePhaseEntry& phase, const ReservationCache* cache) const;
  void take(std::span<const storage::Reservation> reserved);

  StoredSession& stored_;
  const LoadedCircuit circuit_;
  const RunShared shared_;
  RunPlan plan_;
  MaterialCounts needed_, burnt_;
  std::optional<RowCheck> row_check_;  // of a prepared run
  std::optional<circuit::CircuitRounds> rounds_;
  storage::ReservationChain own_{{}};
  std::unique_ptr<online::OnlineEvaluation> evaluation_;
};

// Once with_peer() has ended.
void add_costs(StoredSession& stored, RunResult& result);

}  // namespace tinyot::engine
