// What stored and live runs have in common. Internal to this folder.
#pragma once

#include "circuitgen/circuit_rounds.h"
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
  // What so many ANDs take.
  MaterialCounts material(MaterialForm form, std::uint64_t ands) const {
    return online::material_for(circuit.info(), ands, form, circuit.lanes());
  }
  // What both parties must agree on, whatever the material.
  std::vector<net::Parameter> parameters() const;
};

RunReport run_stored(const RunPlan& plan, const online::InputValues& inputs);
RunReport run_live(const RunPlan& plan, const online::InputValues& inputs);

}  // namespace tinyot::engine
