// What the reports of circuits have in common: gates, inputs and outputs.
#pragma once

#include <string>

#include "circuitgen/cost.h"
#include "tinyot/circuit/gate.h"
#include "tools/cli/render/report.h"

namespace tinyot::tools {

void add_gates(Json& report, const circuit::CircuitCost& cost);
std::string gates_text(const circuit::CircuitCost& cost);

void add_bundles(Json& report, const circuit::CircuitInfo& info);
std::string bundles_text(const circuit::CircuitInfo& info);  // one line each

}  // namespace tinyot::tools
