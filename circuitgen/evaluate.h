// Plain evaluation of a circuit on all lanes: the reference for the two-party run.
//
// Memory: O(live wires . lanes), wiped.
#pragma once

#include <cstddef>
#include <vector>

#include "base/bit_vector.h"
#include "tinyot/circuit/gate.h"

namespace tinyot::circuit {

// The values of one bundle: one per lane, or exactly one for a bundle that is the same in all
// lanes.
using LaneValues = std::vector<BitVector>;

// `inputs` has an entry for each input bundle, in their order; the result has one for each output
// bundle, with one value per lane. Fails: UsageError naming the bundle whose value has the wrong
// shape; std::logic_error by ENSURE on a malformed stream (a wire is read before it is written or
// after it is freed, an output bit occurs twice or never).
std::vector<LaneValues> evaluate(const Circuit& circuit, std::size_t lanes,
                                 const std::vector<LaneValues>& inputs);

}  // namespace tinyot::circuit
