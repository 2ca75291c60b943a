// The messages of an interactive run.
#pragma once

#include <memory>

#include "online/run_cost.h"
#include "tinyot/circuit/gate.h"
#include "tinyot/parameters.h"

namespace tinyot::online {

// Half round trips are those of the ANDs, one for a round of ANDs with triples, two with pairs;
// those for inputs that no AND of their round follows; and three of the outputs, two if there are
// none.
std::unique_ptr<RunCostCounter> count_interactive_cost(const circuit::CircuitInfo& info,
                                                       std::size_t lanes, AndMaterial form);

}  // namespace tinyot::online
