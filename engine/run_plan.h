// What stored and live runs have in common. Internal to this folder.
#pragma once

#include "circuitgen/circuit_rounds.h"
#include "engine/advance.h"
#include "engine/run.h"
#include "net/handshake.h"

namespace tinyot::engine {

struct RunPlan {
  RunPlan(const RunRequest& run_request, const LoadedCircuit& run_circuit);

  const RunRequest& request;
  const LoadedCircuit& circuit;
  std::size_t window;

  std::uint64_t ands() const { return circuit.cost().ands_of(circuit.lanes()); }
  circuit::CircuitRounds rounds() const;
  // The material that `ands` ANDs need.
  MaterialCounts material(MaterialForm form, std::uint64_t ands) const {
    return online::material_for(circuit.info(), ands, form, circuit.lanes());
  }
  online::RunProgress progress() const {
    if (!request.progress) return {};
    return [report = request.progress, total = ands()](std::uint64_t done) { report(done, total); };
  }
  // What both parties must agree on, for any material.
  std::vector<net::Parameter> parameters() const;
};

class StoredSession;

// Evaluates the circuit in a session on stores, with its own reservations or, on one store, with
// those of `advance`. The report is complete only after add_costs(), which is called once
// with_peer() has ended.
RunReport evaluate_stored(const RunPlan& plan, StoredSession& stored, checks::Session& session,
                          circuit::CircuitRounds& rounds, const online::BundleValues& inputs,
                          const online::SharedInputs& shared, Advance* advance = nullptr);
void add_costs(StoredSession& stored, RunReport& report);

RunReport run_stored(const RunPlan& plan, const online::BundleValues& inputs,
                     const std::stop_token& cancel);
RunReport run_live(const RunPlan& plan, const online::BundleValues& inputs,
                   const std::stop_token& cancel);

}  // namespace tinyot::engine
