#include "circuitgen/cost.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "circuitgen/wire_ids.h"

namespace tinyot::circuit {
namespace {

class CostSink final : public GateSink {
 public:
  // Thrown to end the generation.
  struct TooLarge {};

  CostSink(const CircuitInfo& info, CircuitCost& cost, std::uint64_t gates_max)
      : info_(info), cost_(cost), gates_left_(gates_max) {}

  void emit(const Gate& gate) override {
    switch (gate.kind) {
      case GateKind::Input:
        ENSURE(gate.in0 < info_.inputs.size());
        return wires_.make(gate.out, {0, info_.inputs[gate.in0].same_in_all_lanes});
      case GateKind::Const:
        return wires_.make(gate.out, {0, true});
      case GateKind::Xor: {
        const Wire wire = joined(gate);
        count_gate();
        ++cost_.xors;
        cost_.common_xors += wire.common;
        return wires_.make(gate.out, wire);
      }
      case GateKind::And: {
        const Wire wire = joined(gate);
        count_gate();
        ++cost_.ands;
        cost_.common_ands += wire.common;
        cost_.and_depth = std::max<std::uint64_t>(cost_.and_depth, wire.depth + 1);
        return wires_.make(gate.out, {wire.depth + 1, wire.common});
      }
      case GateKind::Not:
        ++cost_.nots;
        return wires_.make(gate.out, Wire(wires_.at(gate.in0)));
      case GateKind::Output:
        wires_.at(gate.in0);
        return;
      case GateKind::Free:
        wires_.free(gate.in0);
        return;
    }
  }

 private:
  struct Wire {
    std::uint32_t depth = 0;
    bool common = false;
  };

  void count_gate() {
    if (gates_left_-- == 0) throw TooLarge();
  }
  Wire joined(const Gate& gate) const {
    const Wire &x = wires_.at(gate.in0), &y = wires_.at(gate.in1);
    return {std::max(x.depth, y.depth), x.common && y.common};
  }

  const CircuitInfo& info_;
  CircuitCost& cost_;
  std::uint64_t gates_left_;
  WireTable<Wire> wires_;
};

}  // namespace

std::optional<CircuitCost> cost_within(const Circuit& circuit, std::uint64_t gates_max) {
  CircuitCost cost;
  for (const InputBundle& bundle : circuit.info().inputs)
    if (bundle.owner) cost.input_bits[static_cast<std::size_t>(*bundle.owner)] += bundle.bits;
  for (const OutputBundle& bundle : circuit.info().outputs) cost.output_bits += bundle.bits;
  CostSink sink(circuit.info(), cost, gates_max);
  try {
    circuit.generate(sink);
  } catch (const CostSink::TooLarge&) {
    return std::nullopt;
  }
  return cost;
}

CircuitCost cost_of(const Circuit& circuit) { return *cost_within(circuit, ~std::uint64_t{0}); }

}  // namespace tinyot::circuit
