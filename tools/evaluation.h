// What a run does between its command line and its report: a circuit is evaluated with the peer, on
// stored material or on material that is made meanwhile.
#pragma once

#include <cstdint>

#include "online/runtime.h"
#include "storage/marks.h"
#include "tools/circuit_spec.h"
#include "tools/report.h"
#include "tools/run.h"

namespace tinyot::tools {

struct EvaluationPlan {
  const RunJob& job;
  const NamedCircuit& circuit;
  const online::InputValues& inputs;
  std::size_t window;

  std::uint64_t ands() const { return circuit.cost().ands_of(circuit.lanes()); }
  circuit::CircuitRounds rounds() const {
    const auto& small = circuit.small_cost();
    return circuit::CircuitRounds(circuit.circuit(), small ? small->gates() : ~std::uint64_t{0},
                                  circuit.lanes(), window);
  }
  // What so many ANDs take.
  MaterialCounts material(MaterialForm form, std::uint64_t ands) const {
    return online::material_for(circuit.info(), ands, form, circuit.lanes());
  }

  // What both parties must agree on, whatever the material.
  std::vector<net::Parameter> parameters() const;
};

struct Evaluation {
  online::RunResult result;
  storage::Manifest security;  // of the material
  storage::AttemptTotals attempts;
  MaterialCounts burnt;  // passed over, because the peer's store was ahead
  std::uint64_t store_bytes = 0;
  double wall_s = 0;
  std::vector<net::PhaseCost> phases;
};

// Role: both, symmetric. Fails: before the first byte is sent as the store and OutOfMaterial, then
// as the session.
Evaluation evaluate_stored(const EvaluationPlan& plan);

// Sets the run's material aside in both stores. Fails: likewise.
storage::PlannedReservation reserve_stored(const EvaluationPlan& plan);

// The same on material of the job's own, made on a connection of its own and kept in memory until
// it is used.
Evaluation evaluate_live(const EvaluationPlan& plan);

}  // namespace tinyot::tools
