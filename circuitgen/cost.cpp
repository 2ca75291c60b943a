#include "circuitgen/cost.h"

#include <algorithm>
#include <vector>

#include "circuitgen/wire_numbers.h"

namespace tinyot {
namespace {

class CostSink final : public GateSink {
 public:
  CostSink(const CircuitInfo& info, CircuitCost& cost) : info_(info), cost_(cost) {}

  void emit(const Gate& gate) override {
    switch (gate.kind) {
      case GateKind::Input:
        ENSURE(gate.in0 < info_.inputs.size());
        return make_wire(gate.out, {0, info_.inputs[gate.in0].same_in_all_lanes});
      case GateKind::Const:
        return make_wire(gate.out, {0, true});
      case GateKind::Xor: {
        const Wire wire = joined(gate);
        ++cost_.xors;
        cost_.common_xors += wire.common;
        return make_wire(gate.out, wire);
      }
      case GateKind::And: {
        const Wire wire = joined(gate);
        ++cost_.ands;
        cost_.common_ands += wire.common;
        cost_.and_depth = std::max<std::uint64_t>(cost_.and_depth, wire.depth + 1);
        return make_wire(gate.out, {wire.depth + 1, wire.common});
      }
      case GateKind::Not:
        ++cost_.nots;
        return make_wire(gate.out, wire_of(gate.in0));
      case GateKind::Output:
        wire_of(gate.in0);
        return;
      case GateKind::Free:
        return numbers_.recycle(numbers_.forget(gate.in0));
    }
  }

 private:
  struct Wire {
    std::uint64_t depth : 63 = 0;
    std::uint64_t common : 1 = 0;
  };

  Wire wire_of(WireId id) const { return wires_[numbers_.number_of(id)]; }
  Wire joined(const Gate& gate) const {
    const Wire x = wire_of(gate.in0), y = wire_of(gate.in1);
    return {std::max<std::uint64_t>(x.depth, y.depth), static_cast<std::uint64_t>(x.common & y.common)};
  }
  void make_wire(WireId id, Wire wire) {
    const WireNumber number = numbers_.add(id);
    if (number >= wires_.size()) wires_.resize(numbers_.limit());
    wires_[number] = wire;
  }

  const CircuitInfo& info_;
  CircuitCost& cost_;
  WireNumbers numbers_;
  std::vector<Wire> wires_;
};

}  // namespace

CircuitCost cost_of(const Circuit& circuit) {
  CircuitCost cost;
  for (const InputBundle& bundle : circuit.info().inputs) cost.input_bits[static_cast<std::size_t>(bundle.owner)] += bundle.bits;
  for (const OutputBundle& bundle : circuit.info().outputs) cost.output_bits += bundle.bits;
  CostSink sink(circuit.info(), cost);
  circuit.generate(sink);
  return cost;
}

}  // namespace tinyot
