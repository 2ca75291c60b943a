// The messages of a garbled run (garbled_run.h).
#pragma once

#include <memory>

#include "online/garbled/garbled_run.h"
#include "online/run_cost.h"
#include "tinyot/circuit/gate.h"

namespace tinyot::online {

// Half round trips are those of doc/protocol.md, section 16.5, and those that a run of more entries
// than a window waits for.
std::unique_ptr<RunCostCounter> count_garbled_cost(const circuit::CircuitInfo& info,
                                                   std::size_t lanes,
                                                   const GarbledWindow& window = {});

}  // namespace tinyot::online
