// The online phase (NNOB12 Fig. 6): pulls a circuit round by round, draws material as it goes, evaluates all lanes side by
// side and reveals the outputs after the MAC check.
//
// Outputs are revealed only after the transcript of everything before them has settled, and the caller gets them only after
// their own MACs have settled too.
#pragma once

#include <optional>
#include <vector>

#include "base/material.h"
#include "base/parameters.h"
#include "checks/session.h"
#include "circuitgen/cost.h"
#include "circuitgen/gate.h"

namespace tinyot {

// Values of one bundle: one BitVector a lane; a single one for a bundle that is the same in all lanes.
using BundleValues = std::vector<BitVector>;

struct RunResult {
  std::vector<std::optional<BundleValues>> outputs;  // by output bundle; absent where only the peer receives
  std::uint64_t and_rounds = 0;                      // rounds that had ANDs
};

// What a run takes out of the store: a triple, or an object of each other kind, an AND, and an aBit of its owner an input bit.
MaterialCounts material_for(const Circuit& circuit, const CircuitCost& cost, MaterialForm form, std::size_t lanes);

// Gates that are layered together: fewer with more lanes, so that the wires of a window stay within a few hundred megabytes.
std::size_t window_for(std::size_t lanes);

// Role: both, symmetric. `inputs` has the values of my bundles, and nothing for the peer's.
// Shapes: inputs[bundle]: lanes vectors (1 if same_in_all_lanes) of info().inputs[bundle].bits bits.
// Wire: 2 rounds a layer of ANDs, 1 from triples, 1 message an owner for inputs, 3 rounds for the outputs.
// Fails: PeerCheated("MAC transcript") before anything is returned; OutOfMaterial; NetworkError.
RunResult run_circuit(Session& session, MaterialSource& source, MaterialForm form, const Circuit& circuit, std::size_t lanes,
                      const std::vector<std::optional<BundleValues>>& inputs);

}  // namespace tinyot
