// Brackets of groups (gate.h) at random places of a stream.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "tinyot/circuit/gate.h"

namespace tinyot::test {

// The stream's gates, of which many are in groups: of any number of inputs, with inputs, constants,
// outputs and Free events of the circuit inside. `below(n)` draws a number less than n.
inline std::vector<circuit::Gate> with_groups(
    const std::vector<circuit::Gate>& stream,
    const std::function<std::uint64_t(std::uint64_t)>& below) {
  using circuit::GateKind;
  std::set<circuit::WireId> constants;  // before `at`

  // The end of a group that begins at `first` and has at most `most` events; `first` if there is
  // none.
  const auto end_of_group = [&](std::size_t first, std::size_t most) {
    std::set<circuit::WireId> known = constants, inside, outputs;
    std::size_t inputs = 0, ands = 0, freed_outputs = 0, end = first;
    const auto read = [&](circuit::WireId wire) {
      if (!inside.contains(wire) && known.insert(wire).second) ++inputs;
    };
    for (std::size_t at = first; at < std::min(stream.size(), first + most); ++at) {
      const circuit::Gate& gate = stream[at];
      switch (gate.kind) {
        case GateKind::Xor:
        case GateKind::And:
          read(gate.in1);
          [[fallthrough]];
        case GateKind::Not:
          read(gate.in0);
          inside.insert(gate.out);
          ands += gate.kind == GateKind::And;
          break;
        case GateKind::Const:
          known.insert(gate.out);
          break;
        case GateKind::Output:
          if (inside.contains(gate.in0)) outputs.insert(gate.in0);
          break;
        case GateKind::Free:
          inside.erase(gate.in0);
          freed_outputs += outputs.erase(gate.in0);
          known.erase(gate.in0);
          break;
        default:
          break;
      }
      if (inputs > circuit::kGroupInputsMax || ands > circuit::kGroupAndsMax) break;
      if (inside.size() + freed_outputs <= circuit::kGroupResultsMax) end = at + 1;
    }
    return end;
  };

  std::vector<circuit::Gate> grouped;
  for (std::size_t at = 0, end = 0; at < stream.size(); ++at) {
    const bool begins = at >= end && below(4) == 0;
    if (begins) {
      end = end_of_group(at, 1 + below(16));
      if (end > at) grouped.push_back({GateKind::GroupBegin, 0, 0, 0});
    }
    const circuit::Gate& gate = stream[at];
    if (gate.kind == GateKind::Const) constants.insert(gate.out);
    if (gate.kind == GateKind::Free) constants.erase(gate.in0);
    grouped.push_back(gate);
    if (at + 1 == end) grouped.push_back({GateKind::GroupEnd, 0, 0, 0});
  }
  return grouped;
}

}  // namespace tinyot::test
