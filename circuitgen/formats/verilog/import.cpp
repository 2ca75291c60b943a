#include "circuitgen/formats/verilog/import.h"

#include <algorithm>
#include <utility>

namespace tinyot::circuit {
namespace {

bool is_better(const Candidate& x, const Candidate& y, Goal goal) {
  const auto key = [&](const Candidate& each) {
    return goal == Goal::Ands ? std::pair(each.cost.ands, each.cost.and_depth)
                              : std::pair(each.cost.and_depth, each.cost.ands);
  };
  return key(x) < key(y);
}

}  // namespace

std::vector<Candidate> import_design(const system::Confinement& yosys, const Design& design,
                                     const PortRoles& roles, Goal goal,
                                     const system::Limits& limits, const Warn& warn) {
  std::vector<Candidate> candidates;
  for (const Synthesis& synthesis : synthesise(yosys, design, goal, limits, warn)) {
    Netlist netlist = read_netlist(synthesis.design, design.top, design.file);
    DescribedPorts ports = describe_ports(netlist, roles);
    auto circuit = std::make_unique<NetlistCircuit>(std::move(netlist), std::move(ports.info));
    const CircuitCost cost = cost_of(*circuit);
    candidates.push_back({synthesis.name, std::move(circuit), cost, std::move(ports.defaults)});
  }
  std::ranges::stable_sort(
      candidates, [&](const Candidate& x, const Candidate& y) { return is_better(x, y, goal); });
  return candidates;
}

}  // namespace tinyot::circuit
