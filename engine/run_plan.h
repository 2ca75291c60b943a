// What runs have in common. Internal to this folder.
#pragma once

#include "circuitgen/circuit_rounds.h"
#include "engine/loaded_circuit.h"
#include "engine/run_inputs.h"
#include "net/handshake.h"
#include "online/online_phase.h"
#include "tinyot/run.h"

namespace tinyot::engine {

struct RunPlan {
  // `form` is that of the material. Fails: UsageError if the requested phase does not run on it.
  RunPlan(const RunRequest& run_request, const LoadedCircuit& run_circuit, AndMaterial form,
          online::SharedValues shared_values = {});

  // Of a run whose inputs come later, on material of this sigma. Fails: UsageError if it cannot be
  // prepared.
  void set_inputs_later(std::uint32_t sigma);

  const RunRequest& request;
  const LoadedCircuit& circuit;
  AndMaterial form;
  const online::OnlinePhaseEntry& phase;
  std::size_t window;
  online::SharedValues shared;
  std::optional<online::Preparation> preparation;  // if the inputs come later

  std::uint64_t ands() const { return circuit.cost().ands_of(circuit.lanes()); }
  circuit::CircuitRounds rounds() const;
  // The material that `ands` ANDs need, or those of the circuit.
  MaterialCounts material(std::uint64_t ands) const {
    return phase.material_for(circuit.info(), ands, form, circuit.lanes(), shared);
  }
  MaterialCounts material() const { return material(ands()); }
  online::RunProgress progress() const {
    if (!request.progress) return {};
    return [report = request.progress, total = ands()](std::uint64_t done) { report(done, total); };
  }
  // What both parties must agree on, for any material; then `others`.
  std::vector<net::Parameter> parameters(const std::vector<net::Parameter>& others = {}) const;
};

// Sets what the online phase returns. Values that stay shared are kept, with the name of the output
// after `origin`, unless that is empty.
void set_evaluation(RunResult& result, const circuit::CircuitInfo& info,
                    online::Evaluation evaluation, const std::string& origin = {});

RunResult run_stored(const RunRequest& request, const LoadedCircuit& circuit,
                     const RunInputs& inputs, const std::stop_token& cancel);
RunResult run_live(const RunRequest& request, const LoadedCircuit& circuit, const RunInputs& inputs,
                   const std::stop_token& cancel);

}  // namespace tinyot::engine
