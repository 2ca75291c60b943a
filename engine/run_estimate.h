// The estimated cost of a run: its rounds and bytes, counted from the layers of the circuit; its
// computation, measured with a short run on this machine; and the time of both over a link. Tests
// compare them with those of runs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "engine/loaded_circuit.h"
#include "engine/plan.h"
#include "net/tcp.h"
#include "tinyot/parameters.h"

namespace tinyot::engine {

struct RunEstimate {
  std::size_t window = 0;        // gates that are layered together
  std::uint64_t ands = 0;        // of all lanes
  std::uint64_t and_rounds = 0;  // rounds that have ANDs
  // Times that a party waits for a message, each for half a round trip: those of the ANDs (one for
  // a round of ANDs with triples, two with pairs) and three of the outputs; and those for
  // inputs that no AND of their round follows.
  std::uint64_t rounds = 0;
  std::array<std::uint64_t, 2> bytes_sent{};  // by A, by B; message headers included

  // The time of the messages alone.
  double link_s(const net::LinkShape& link) const;
};

// The preprocessing that `runs` runs take, at least one AND.
Demand demand_of_runs(const LoadedCircuit& circuit, AndMaterial form, std::uint64_t runs);

// The material that a run with `ands` ANDs in all lanes takes.
MaterialCounts material_of_run(const LoadedCircuit& circuit, std::uint64_t ands, AndMaterial form);

// `window`: as RunRequest::window. Takes as long as layering the circuit.
RunEstimate estimate_run(const LoadedCircuit& circuit, AndMaterial form,
                         std::optional<std::uint64_t> window);

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
