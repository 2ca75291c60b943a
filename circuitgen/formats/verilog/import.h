// `tinyot circuit import`: makes a circuit file from a Verilog design.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "circuitgen/cost.h"
#include "tools/cli/command_line.h"
#include "circuitgen/formats/verilog/netlist_circuit.h"
#include "circuitgen/formats/verilog/yosys.h"

namespace tinyot::tools {

// One of the circuits of a design.
struct Candidate {
  std::string name;  // of the synthesis
  std::unique_ptr<NetlistCircuit> circuit;
  circuit::CircuitCost cost;
  std::vector<std::string> by_default;  // see DescribedPorts
};

// The circuits of the design, the best for the goal first. Fails: UsageError.
std::vector<Candidate> import_design(const Confinement& yosys, const Design& design,
                                     const PortRoles& roles, Goal goal,
                                     const system::Limits& limits, bool quiet);

int circuit_import(const Arguments& arguments);

}  // namespace tinyot::tools
