// What runs have in common. Internal to this folder.
#pragma once

#include "circuitgen/circuit_rounds.h"
#include "engine/advance.h"
#include "engine/circuit_source.h"
#include "net/handshake.h"
#include "online/runtime.h"
#include "tinyot/run.h"

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

// Sets what the online phase returns. Values that stay shared are kept, with the name of the output
// after `origin`, unless that is empty.
void set_evaluation(RunResult& result, const circuit::CircuitInfo& info,
                    online::Evaluation evaluation, const std::string& origin = {});

// Evaluates the circuit in a session on stores, with its own reservations or, on one store, with
// those of `advance`. The result is complete only after add_costs(), which is called once
// with_peer() has ended.
struct StoredInputs {
  const online::BundleValues& values;
  const online::SharedValues& shared;
};
RunResult evaluate_stored(const RunPlan& plan, StoredSession& stored, checks::Session& session,
                          circuit::CircuitRounds& rounds, const StoredInputs& inputs,
                          Advance* advance = nullptr, const std::string& origin = {});
void add_costs(StoredSession& stored, RunResult& result);

RunResult run_stored(const RunPlan& plan, const online::BundleValues& inputs,
                     const std::stop_token& cancel);
RunResult run_live(const RunPlan& plan, const online::BundleValues& inputs,
                   const std::stop_token& cancel);

}  // namespace tinyot::engine
