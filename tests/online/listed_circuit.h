// Circuits listed gate by gate.
#pragma once

#include "tests/support/layers.h"
#include "tinyot/circuit/gate.h"

namespace tinyot::test {

class ListedCircuit : public Circuit {
 public:
  ListedCircuit() { info_.name = "listed"; }

  std::vector<WireId> input(Party owner, std::uint32_t bits, bool same_in_all_lanes = false) {
    return input(source_of(owner), bits, same_in_all_lanes);
  }
  std::vector<WireId> input(InputSource source, std::uint32_t bits,
                            bool same_in_all_lanes = false) {
    std::vector<WireId> wires;
    for (std::uint32_t bit = 0; bit < bits; ++bit)
      wires.push_back(emit(GateKind::Input, info_.inputs.size(), bit));
    info_.inputs.push_back({"in", bits, source, ValueFormat::Integer, same_in_all_lanes});
    return wires;
  }
  WireId constant(bool bit) { return emit(GateKind::Const, bit, 0); }
  WireId not_of(WireId x) { return emit(GateKind::Not, x, 0); }
  WireId xor_of(WireId x, WireId y) { return emit(GateKind::Xor, x, y); }
  WireId and_of(WireId x, WireId y) { return emit(GateKind::And, x, y); }
  void begin_group() { gates_.push_back({GateKind::GroupBegin, 0, 0, 0}); }
  void end_group() { gates_.push_back({GateKind::GroupEnd, 0, 0, 0}); }
  void free(WireId x) { gates_.push_back({GateKind::Free, 0, x, 0}); }
  void output(Receiver to, const std::vector<WireId>& wires) {
    for (std::size_t bit = 0; bit < wires.size(); ++bit)
      gates_.push_back({GateKind::Output, info_.outputs.size(), wires[bit], bit});
    info_.outputs.push_back(
        {"out", static_cast<std::uint32_t>(wires.size()), to, ValueFormat::Integer});
  }

  const CircuitInfo& info() const override { return info_; }
  void generate(GateSink& sink) const override {
    for (const Gate& gate : gates_) sink.emit(gate);
  }

 private:
  WireId emit(GateKind kind, WireId in0, WireId in1) {
    gates_.push_back({kind, next_, in0, in1});
    return next_++;
  }

  CircuitInfo info_;
  std::vector<Gate> gates_;
  WireId next_ = 0;
};

// Three layers of three ANDs per lane, one of them with an invariant operand, and two invariant
// ANDs; outputs to A, to B and to both, a lane-invariant wire and an input among them. Every input
// is read by an AND.
inline ListedCircuit mixed_layers() {
  ListedCircuit circuit;
  auto x = circuit.input(Party::A, 3), y = circuit.input(Party::B, 3);
  auto s = circuit.input(Party::A, 2, true), t = circuit.input(Party::B, 2, true);
  const auto input_of_a = x[1];
  for (int layer = 0; layer < 3; ++layer) {
    const std::vector<WireId> lane = {circuit.and_of(x[0], y[0]), circuit.and_of(x[1], y[1]),
                                      circuit.and_of(circuit.xor_of(x[2], y[2]), s[0])};
    const std::vector<WireId> invariant = {circuit.and_of(s[0], t[0]),
                                           circuit.and_of(circuit.not_of(s[1]), t[1])};
    x = {circuit.xor_of(lane[0], x[1]), circuit.not_of(lane[1]),
         circuit.xor_of(lane[2], invariant[0])};
    y = {circuit.xor_of(lane[2], y[2]), circuit.xor_of(lane[0], lane[1]), y[0]};
    s = {circuit.xor_of(invariant[0], s[1]), circuit.xor_of(invariant[1], t[0])};
    t = {circuit.xor_of(invariant[1], t[1]), circuit.not_of(invariant[0])};
  }
  circuit.output(Receiver::A, {x[0], s[0]});
  circuit.output(Receiver::B, {x[1], t[0]});
  circuit.output(Receiver::Both, {x[2], y[0], s[1], input_of_a});
  return circuit;
}

// Three layers of groups and ANDs: a group of the wires of all lanes, one of 5 inputs of which some
// are the same in all lanes, whose products have three levels, and an invariant one.
inline ListedCircuit grouped_layers() {
  ListedCircuit circuit;
  auto x = circuit.input(Party::A, 4), y = circuit.input(Party::B, 4);
  auto s = circuit.input(Party::A, 2, true), t = circuit.input(Party::B, 2, true);
  const auto product_of = [&](const std::vector<WireId>& factors) {
    WireId product = factors[0];
    for (std::size_t i = 1; i < factors.size(); ++i) {
      const WireId next = circuit.and_of(product, factors[i]);
      if (i > 1) circuit.free(product);
      product = next;
    }
    return product;
  };
  for (int layer = 0; layer < 3; ++layer) {
    circuit.begin_group();
    const WireId four = product_of({x[0], x[1], y[0], y[1]});
    const WireId three = circuit.not_of(circuit.xor_of(product_of({x[0], y[1], x[1]}), y[0]));
    circuit.end_group();
    circuit.begin_group();
    const WireId mixed = circuit.xor_of(product_of({x[2], s[0], y[2], t[0], s[1]}), y[2]);
    circuit.end_group();
    circuit.begin_group();
    const WireId common = circuit.xor_of(product_of({s[0], t[0], t[1]}), s[1]);
    const WireId other = circuit.and_of(s[1], t[1]);
    circuit.end_group();
    const WireId plain = circuit.and_of(x[3], y[3]), common_plain = circuit.and_of(s[0], t[1]);
    x = {circuit.xor_of(four, x[3]), mixed, circuit.xor_of(plain, common), circuit.not_of(three)};
    y = {circuit.xor_of(three, y[2]), circuit.xor_of(mixed, plain), circuit.xor_of(y[3], four),
         x[2]};
    s = {common, circuit.xor_of(other, t[0])};
    t = {circuit.xor_of(common_plain, common), circuit.not_of(other)};
  }
  circuit.output(Receiver::A, {x[0], s[0]});
  circuit.output(Receiver::B, {x[1], t[0], s[1]});
  circuit.output(Receiver::Both, {x[2], x[3], y[0], y[1], y[2], y[3], t[1]});
  return circuit;
}

}  // namespace tinyot::test
