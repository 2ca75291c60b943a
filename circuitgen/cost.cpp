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

CostCounter::Wire CostCounter::joined(const Wire& x, const Wire& y) {
  return {.depth = std::max(x.depth, y.depth),
          .product_depth = std::max(x.product_depth, y.product_depth),
          .invariant = x.invariant && y.invariant,
          .product_invariant = x.product_invariant && y.product_invariant};
}

void CostCounter::emit(const Gate& gate) {
  switch (gate.kind) {
    case GateKind::Input: {
      ENSURE(gate.in0 < info_.inputs.size());
      const bool invariant = info_.inputs[gate.in0].same_in_all_lanes;
      wires_.make(gate.out, {.invariant = invariant, .product_invariant = invariant});
      return;
    }
    case GateKind::Const:
      wires_.make(gate.out,
                  {.invariant = true, .product_invariant = true, .constant = gate.in0 != 0});
      return;
    case GateKind::Xor:
    case GateKind::And:
    case GateKind::Not:
      return make(gate);
    case GateKind::Output:
      wires_.at(gate.in0);
      if (groups_.is_open()) groups_.output(gate);
      return;
    case GateKind::Free:
      wires_.free(gate.in0);
      if (groups_.is_open()) groups_.free(gate.in0);
      return;
    case GateKind::GroupBegin:
      group_ = {.product_invariant = true};
      return groups_.begin();
    case GateKind::GroupEnd:
      return end_group();
  }
}

void CostCounter::make(const Gate& gate) {
  const Wire &x = wires_.at(gate.in0), &y = gate.kind == GateKind::Not ? x : wires_.at(gate.in1);
  Wire wire = joined(x, y);
  if (gate.kind == GateKind::Not) {
    ++cost_.nots;
  } else if (gate.kind == GateKind::Xor) {
    ++cost_.xors;
    cost_.invariant_xors += wire.invariant;
  } else {
    ++cost_.ands;
    cost_.invariant_ands += wire.invariant;
    cost_.and_depth = std::max<std::uint64_t>(cost_.and_depth, ++wire.depth);
    if (!groups_.is_open()) {
      ++cost_.products;
      cost_.invariant_products += wire.product_invariant;
      cost_.product_depth = std::max<std::uint64_t>(cost_.product_depth, ++wire.product_depth);
    }
  }
  if (groups_.is_open()) [[unlikely]]
    groups_.gate(gate, [&](WireId id) {
      const Wire& outside = wires_.at(id);
      if (!outside.constant) group_ = joined(group_, outside);
      return outside.constant;
    });
  wires_.make(gate.out, wire);
}

// A group without results is nothing.
void CostCounter::end_group() {
  const GroupMaker::Group group = groups_.end();
  if (group.results.empty()) return;
  const std::uint64_t products = group.shape->products().size();
  ++cost_.groups;
  cost_.products += products;
  cost_.group_parts += group.shape->parts.size();
  if (group_.product_invariant) cost_.invariant_products += products;
  cost_.product_depth = std::max<std::uint64_t>(cost_.product_depth, ++group_.product_depth);
  for (const GroupMaker::Result& result : group.results) {
    if (!result.wire) continue;
    Wire& wire = wires_.at(*result.wire);
    wire.product_depth = group_.product_depth;
    wire.product_invariant = group_.product_invariant;
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
