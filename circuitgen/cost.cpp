#include "circuitgen/cost.h"

#include <algorithm>
#include <vector>

#include "circuitgen/wire_numbers.h"

namespace tinyot {
namespace {

class CostSink final : public GateSink {
 public:
  explicit CostSink(CircuitCost& cost) : cost_(cost) {}

  void emit(const Gate& gate) override {
    switch (gate.kind) {
      case GateKind::Input:
      case GateKind::Const:
        return make_wire(gate.out, 0);
      case GateKind::Xor:
        ++cost_.xors;
        return make_wire(gate.out, std::max(depth_of(gate.in0), depth_of(gate.in1)));
      case GateKind::And: {
        ++cost_.ands;
        const std::uint64_t depth = std::max(depth_of(gate.in0), depth_of(gate.in1)) + 1;
        cost_.and_depth = std::max(cost_.and_depth, depth);
        return make_wire(gate.out, depth);
      }
      case GateKind::Not:
        ++cost_.nots;
        return make_wire(gate.out, depth_of(gate.in0));
      case GateKind::Output:
        depth_of(gate.in0);
        return;
      case GateKind::Free:
        return numbers_.recycle(numbers_.forget(gate.in0));
    }
  }

 private:
  std::uint64_t depth_of(WireId id) const { return depths_[numbers_.number_of(id)]; }
  void make_wire(WireId id, std::uint64_t depth) {
    const WireNumber number = numbers_.add(id);
    if (number >= depths_.size()) depths_.resize(numbers_.limit());
    depths_[number] = depth;
  }

  CircuitCost& cost_;
  WireNumbers numbers_;
  std::vector<std::uint64_t> depths_;
};

}  // namespace

CircuitCost cost_of(const Circuit& circuit) {
  CircuitCost cost;
  for (const InputBundle& bundle : circuit.info().inputs) cost.input_bits[static_cast<std::size_t>(bundle.owner)] += bundle.bits;
  for (const OutputBundle& bundle : circuit.info().outputs) cost.output_bits += bundle.bits;
  CostSink sink(cost);
  circuit.generate(sink);
  return cost;
}

}  // namespace tinyot
