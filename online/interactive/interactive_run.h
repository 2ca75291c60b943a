// The online phase (NNOB12 Fig. 6): pulls a circuit round by round, draws material as it goes,
// evaluates all lanes in parallel and reveals the outputs after the MAC check. Two bits of each
// party are opened for an AND on triples, all of them after the inputs.
#pragma once

#include "checks/session.h"
#include "circuitgen/circuit_rounds.h"
#include "material/material.h"
#include "online/values.h"
#include "tinyot/circuit/gate.h"
#include "tinyot/parameters.h"

namespace tinyot::online {

// Role: both, symmetric. `inputs` has the values of my bundles and none of the peer's; `wanted` is
// at least the material that the run takes. Both parties have the same rounds: the same circuit,
// lanes and window. Shapes: inputs[bundle]: lanes rows (1 if same_in_all_lanes) of
// info().inputs[bundle].bits bits, equal at both parties for a public bundle; shared[bundle] has
// these bits and lanes, for each shared bundle, and comes from the same output of the same run at
// both parties. Wire: 2 rounds per
// layer of ANDs, 1 with triples; 1 message per owner for inputs, in the round of the ANDs that
// follow; 3 rounds for the outputs. Fails: PeerCheated("MAC transcript") before anything is
// returned; OutOfMaterial; NetworkError.
Evaluation run_circuit(checks::Session& session, material::Source& source,
                       const MaterialCounts& wanted, AndMaterial form,
                       circuit::CircuitRounds& rounds, const BundleValues& inputs,
                       const SharedValues& shared = {}, const RunProgress& progress = {});

}  // namespace tinyot::online
