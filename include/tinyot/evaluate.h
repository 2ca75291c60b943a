// Circuits on one machine: how large they are, and what they compute.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tinyot/circuit/gate.h"
#include "tinyot/export.h"
#include "tinyot/values.h"

namespace tinyot::circuit {

struct GateCounts {
  std::uint64_t ands = 0, xors = 0, nots = 0;  // of one lane
  std::uint64_t and_depth = 0;                 // most ANDs on a path
};
// Generates the circuit once. Memory: O(live wires).
TINYOT_API GateCounts count_gates(const Circuit& circuit);

// Evaluates the circuit without a peer: `inputs` has all bundles, of both parties and those that
// take shared values, and the result has all outputs, for any receiver. Fails: UsageError for
// inputs that do not fit the circuit.
TINYOT_API Values evaluate(const Circuit& circuit, const Values& inputs, std::size_t lanes = 1);

// That these are the inputs of a party, as run() requires them before it connects. Fails:
// UsageError naming the input.
TINYOT_API void check_inputs(const Circuit& circuit, Party party, const Values& inputs,
                             std::size_t lanes = 1);

}  // namespace tinyot::circuit
