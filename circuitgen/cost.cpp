#include "circuitgen/cost.h"

#include <algorithm>

#include "base/error.h"

namespace tinyot::circuit {
namespace {

// Ends the generation of a circuit that has too many gates.
class LimitedCounter final : public GateSink {
 public:
  struct TooLarge {};  // thrown

  LimitedCounter(CostCounter& counter, std::uint64_t ands_max, std::uint64_t gates_max)
      : counter_(counter), ands_left_(ands_max), gates_left_(gates_max) {}
  void emit(const Gate& gate) override {
    const bool is_and = gate.kind == GateKind::And;
    if ((is_and && ands_left_-- == 0) ||
        ((is_and || gate.kind == GateKind::Xor) && gates_left_-- == 0))
      throw TooLarge();
    counter_.emit(gate);
  }

 private:
  CostCounter& counter_;
  std::uint64_t ands_left_, gates_left_;
};

std::optional<CircuitCost> cost_within(const Circuit& circuit, std::uint64_t ands_max,
                                       std::uint64_t gates_max) {
  CostCounter counter(circuit.info());
  LimitedCounter limited(counter, ands_max, gates_max);
  try {
    circuit.generate(limited);
  } catch (const LimitedCounter::TooLarge&) {
    return std::nullopt;
  }
  return counter.cost();
}

}  // namespace

CostCounter::CostCounter(const CircuitInfo& info) : info_(info) {
  for (const InputBundle& bundle : info.inputs)
    if (const auto owner = owner_of(bundle.source))
      cost_.input_bits[static_cast<std::size_t>(*owner)] += bundle.bits;
  for (const OutputBundle& bundle : info.outputs) cost_.output_bits += bundle.bits;
}

CostCounter::Wire CostCounter::joined(const Gate& gate) const {
  const Wire &x = wires_.at(gate.in0), &y = wires_.at(gate.in1);
  return {std::max(x.depth, y.depth), x.invariant && y.invariant};
}

void CostCounter::emit(const Gate& gate) {
  switch (gate.kind) {
    case GateKind::Input:
      ENSURE(gate.in0 < info_.inputs.size());
      wires_.make(gate.out, {0, info_.inputs[gate.in0].same_in_all_lanes});
      return;
    case GateKind::Const:
      wires_.make(gate.out, {0, true});
      return;
    case GateKind::Xor: {
      const Wire wire = joined(gate);
      ++cost_.xors;
      cost_.invariant_xors += wire.invariant;
      wires_.make(gate.out, wire);
      return;
    }
    case GateKind::And: {
      const Wire wire = joined(gate);
      ++cost_.ands;
      cost_.invariant_ands += wire.invariant;
      cost_.and_depth = std::max<std::uint64_t>(cost_.and_depth, wire.depth + 1);
      wires_.make(gate.out, {wire.depth + 1, wire.invariant});
      return;
    }
    case GateKind::Not: {
      const Wire wire = wires_.at(gate.in0);
      ++cost_.nots;
      wires_.make(gate.out, wire);
      return;
    }
    case GateKind::Output:
      wires_.at(gate.in0);
      return;
    case GateKind::Free:
      wires_.free(gate.in0);
      return;
    case GateKind::GroupBegin:
    case GateKind::GroupEnd:
      return;
  }
}

std::optional<CircuitCost> cost_within(const Circuit& circuit, std::uint64_t gates_max) {
  return cost_within(circuit, gates_max, gates_max);
}

std::optional<CircuitCost> cost_within_ands(const Circuit& circuit, std::uint64_t ands_max) {
  return cost_within(circuit, ands_max, ~std::uint64_t{0});
}

CircuitCost cost_of(const Circuit& circuit) {
  CostCounter counter(circuit.info());
  circuit.generate(counter);
  return counter.cost();
}

}  // namespace tinyot::circuit
