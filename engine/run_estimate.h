// The estimated cost of a run in each phase: its rounds and bytes, counted from the layers of the
// circuit; its computation, measured with a short run on this machine; and the time of both over a
// link. Tests compare them with those of runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "engine/loaded_circuit.h"
#include "engine/plan.h"
#include "net/tcp.h"
#include "online/online_phase.h"
#include "tinyot/parameters.h"

namespace tinyot::engine {

struct RunEstimate {
  const online::OnlinePhaseEntry* phase;
  std::size_t window;  // gates that are layered together
  online::RunCost cost;
  std::optional<online::Preparation> preparation = {};  // then `cost` is that after the inputs

  // The time of the messages alone, until both parties have their outputs.
  double link_s(const net::LinkShape& link) const;
};

// How a phase prepares the run, if it does.
using PreparationBy =
    std::function<std::optional<online::Preparation>(const online::OnlinePhaseEntry& phase)>;
inline std::optional<online::Preparation> not_prepared(const online::OnlinePhaseEntry&) {
  return std::nullopt;
}

// The preprocessing that `runs` runs take, in whatever phase; at least one AND.
Demand demand_of_runs(const LoadedCircuit& circuit, AndMaterial form, std::uint64_t runs);

// The material that a run takes in whatever phase. `ands`: of a circuit that has not been counted,
// in all lanes.
MaterialCounts material_of_run(const LoadedCircuit& circuit, std::uint64_t ands, AndMaterial form);
// The same with what is known of its cost, or null.
MaterialCounts material_of_run(const LoadedCircuit& circuit, const circuit::CircuitCost* cost,
                               std::uint64_t ands, AndMaterial form);

// Of each of the phases, in their order. Takes as long as layering the circuit, if the rounds are
// not prepared, and once more if phases differ in how they evaluate its groups.
std::vector<RunEstimate> estimate_runs(const LoadedCircuit& circuit, circuit::CircuitRounds& rounds,
                                       std::span<const online::OnlinePhaseEntry* const> phases,
                                       AndMaterial form,
                                       const PreparationBy& preparation_by = not_prepared);
// Without layering: of rounds of equal width, as many as the circuit is deep, or more if a window
// has fewer ANDs; half as many wires as ANDs are operands of those of a round.
RunEstimate estimate_from_depth(const LoadedCircuit& circuit, std::size_t window,
                                const online::OnlinePhaseEntry& phase, AndMaterial form,
                                const std::optional<online::Preparation>& preparation = {});
// Of each phase that runs on the material and on a circuit of this size. `window`: as
// RunRequest::window; by default what A chooses for the first phase over a link with this
// round-trip time.
std::vector<RunEstimate> estimate_runs(const LoadedCircuit& circuit, AndMaterial form,
                                       std::optional<std::uint64_t> window,
                                       std::chrono::nanoseconds round_trip = {});

// What is left of a run once its inputs are known, of each phase that can prepare one of this size
// before them, on material of this sigma.
std::vector<RunEstimate> estimate_prepared_runs(const LoadedCircuit& circuit, AndMaterial form,
                                                std::optional<std::uint64_t> window,
                                                std::chrono::nanoseconds round_trip,
                                                std::uint32_t sigma);

// What a run computes, by itself: in seconds.
struct RunComputation {
  double while_waiting_s = 0;  // while messages are in flight: MACs and keys
  double between_s = 0;        // everything else
};

// Measured with short runs of both parties on this machine, of the same circuit if a number of its
// lanes is small enough, otherwise of a random circuit whose rounds are as large. Fails: as run().
RunComputation measure_computation(const LoadedCircuit& circuit, const RunEstimate& estimate,
                                   AndMaterial form, const net::TcpTimeouts& timeouts);

// The time of the evaluation, as RunResult::wall_s.
double estimated_s(const RunEstimate& estimate, const RunComputation& computation,
                   const net::LinkShape& link);

}  // namespace tinyot::engine
