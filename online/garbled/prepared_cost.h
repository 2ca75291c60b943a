// What is left of a prepared garbled run once its inputs are known (prepared_run.h).
#pragma once

#include <memory>

#include "online/garbled/garbled_run.h"
#include "online/garbled/rows.h"
#include "online/run_cost.h"
#include "tinyot/circuit/gate.h"

namespace tinyot::online {

// Half round trips and bytes are those of stage O (doc/protocol.md, section 16.7).
std::unique_ptr<RunCostCounter> count_prepared_cost(const circuit::CircuitInfo& info,
                                                    std::size_t lanes, RowMacs macs,
                                                    const GarbledWindow& window = {});

}  // namespace tinyot::online
