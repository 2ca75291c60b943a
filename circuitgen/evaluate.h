// Plain evaluation of a circuit on all lanes: the reference for the two-party run.
//
// Memory: O(live wires . lanes), wiped.
#pragma once

#include <cstddef>
#include <vector>

#include "tinyot/circuit/gate.h"
#include "tinyot/lane_matrix.h"

namespace tinyot::circuit {

// `inputs` has an entry for each input bundle, in their order; the result has one for each output
// bundle, with one value per lane. Fails: UsageError naming the bundle whose value has the wrong
// shape; std::logic_error by ENSURE on a malformed stream (a wire is read before it is written or
// after it is freed, an output bit occurs twice or never).
std::vector<LaneMatrix> evaluate(const Circuit& circuit, std::size_t lanes,
                                 const std::vector<LaneMatrix>& inputs);

}  // namespace tinyot::circuit
