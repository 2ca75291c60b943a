// Circuits from a Verilog design: those of each way to synthesise it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "circuitgen/cost.h"
#include "circuitgen/formats/verilog/netlist_circuit.h"
#include "circuitgen/formats/verilog/yosys.h"

namespace tinyot::circuit {

// One of the circuits of a design.
struct Candidate {
  std::string name;  // of the synthesis
  std::unique_ptr<NetlistCircuit> circuit;
  CircuitCost cost;
  std::vector<std::string> defaults;  // see DescribedPorts
};

// The circuits of the design, the best for the goal first. Fails: UsageError.
std::vector<Candidate> import_design(const system::Confinement& yosys, const Design& design,
                                     const PortRoles& roles, Goal goal,
                                     const system::Limits& limits, const Warn& warn = {});

}  // namespace tinyot::circuit
