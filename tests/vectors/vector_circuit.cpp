#include "tests/vectors/vector_circuit.h"

#include "circuitgen/generators/family.h"

namespace tinyot::test {
namespace {

void emit_vector_circuit(Builder& builder) {
  const Bits x = builder.input(0), y = builder.input(1), k = builder.input(2), p = builder.input(3);
  const Bit same = k[0] & k[1];
  Bits products;
  for (std::size_t i = 0; i < 4; ++i) products.push_back(x[i] & y[i]);
  const Bit left = products[0] ^ x[4], right = products[1] ^ y[4] ^ p[0], sum = left & right;
  const Bit u = products[2] ^ y[5], v = products[3] ^ x[5], w = sum ^ same;
  const Bit all = builder.group([&] { return u & v & w; });
  builder.output(0, std::vector{all, products[0] ^ same});
  builder.output(1, std::vector{sum, products[3]});
  builder.output(2, std::vector{all ^ p[1], ~sum, products[1], x[0] ^ y[1]});
}

class GateText final : public GateSink {
 public:
  void emit(const Gate& gate) override { lines.push_back(text(gate)); }

  std::vector<std::string> lines;

 private:
  static std::string wire(WireId id) { return "w" + std::to_string(id); }
  static std::string text(const Gate& gate) {
    switch (gate.kind) {
      case GateKind::Input:
        return wire(gate.out) + " = input " + std::to_string(gate.in0) + " bit " +
               std::to_string(gate.in1);
      case GateKind::Const:
        return wire(gate.out) + " = " + std::to_string(gate.in0);
      case GateKind::Xor:
        return wire(gate.out) + " = " + wire(gate.in0) + " ^ " + wire(gate.in1);
      case GateKind::And:
        return wire(gate.out) + " = " + wire(gate.in0) + " & " + wire(gate.in1);
      case GateKind::Not:
        return wire(gate.out) + " = ~" + wire(gate.in0);
      case GateKind::Output:
        return "output " + std::to_string(gate.out) + " bit " + std::to_string(gate.in1) + " = " +
               wire(gate.in0);
      case GateKind::Free:
        return "free " + wire(gate.in0);
      case GateKind::GroupBegin:
        return "group begins";
      case GateKind::GroupEnd:
        return "group ends";
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<Circuit> vector_circuit() {
  CircuitInfo info{
      "vectors",
      {integer_input("x", 6, Party::A), integer_input("y", 6, Party::B),
       integer_input("k", 2, Party::B), integer_input("p", 2, Party::A)},
      {integer_output("to_a", 2), integer_output("to_b", 2), integer_output("to_both", 4)}};
  info.inputs[2].same_in_all_lanes = true;
  info.inputs[3].same_in_all_lanes = true;
  info.inputs[3].source = InputSource::Public;
  info.outputs[0].to = Receiver::A;
  info.outputs[1].to = Receiver::B;
  return std::make_unique<GeneratedCircuit>(std::move(info), emit_vector_circuit);
}

std::vector<std::string> gates_as_text(const Circuit& circuit) {
  GateText text;
  circuit.generate(text);
  return std::move(text.lines);
}

}  // namespace tinyot::test
