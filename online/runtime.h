// The online phase (NNOB12 Fig. 6): pulls a circuit round by round, draws material as it goes,
// evaluates all lanes side by side and reveals the outputs after the MAC check.
//
// Differs: of a round, the bits are evaluated at once and their openings sent; while the peer's are
// on their way, the MACs and keys of the round before are computed. Nothing that is sent depends on
// them before the check, so the messages are the same.
//
// Outputs are revealed only after the transcript of everything before them has settled, and the
// caller gets them only after their own MACs have settled too.
#pragma once

#include <optional>
#include <vector>

#include "base/material.h"
#include "base/parameters.h"
#include "checks/session.h"
#include "circuitgen/circuit_rounds.h"
#include "circuitgen/cost.h"
#include "circuitgen/gate.h"
#include "online/inputs.h"

namespace tinyot::online {

struct RunResult {
  InputValues outputs;     // by output bundle; absent where only the peer receives
  std::uint64_t ands = 0;  // of all lanes
  std::uint64_t xors = 0;
  std::uint64_t and_rounds = 0;  // rounds that had ANDs
  double wire_s = 0;             // waited for the peer's openings
  double store_s = 0;            // waited for material
  double blocks_s = 0;           // computed MACs and keys, and hashed what was opened
};

// What a circuit of `ands` ANDs in all lanes takes out of the store: a triple, or an object of each
// other kind, an AND; an aBit of its owner an input bit; and with triples an aBit of its receiver
// for each output bit that only one party learns.
MaterialCounts material_for(const circuit::CircuitInfo& info, std::uint64_t ands, MaterialForm form,
                            std::size_t lanes);

// Gates that are layered together unless a user says otherwise: fewer with more lanes, so that the
// wires of a window stay within a few hundred megabytes.
std::size_t window_for(std::size_t lanes);

// Role: both, symmetric. `inputs` has the values of my bundles, and nothing for the peer's;
// `wanted` is what the run takes, or more. Both parties have the same rounds: circuit, lanes and
// window. Shapes: inputs[bundle]: lanes vectors (1 if same_in_all_lanes) of
// info().inputs[bundle].bits bits. Wire: 2 rounds a layer of ANDs, 1 from triples, 1 message an
// owner for inputs, 3 rounds for the outputs. Fails: PeerCheated("MAC transcript") before anything
// is returned; OutOfMaterial; NetworkError.
RunResult run_circuit(checks::Session& session, MaterialSource& source,
                      const MaterialCounts& wanted, MaterialForm form,
                      circuit::CircuitRounds& rounds, const InputValues& inputs);

}  // namespace tinyot::online
