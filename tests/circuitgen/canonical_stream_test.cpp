// The canonical form of a circuit: equal for streams that differ in nothing but numbers and places,
// different for any other gate, operand or output.
#include "circuitgen/canonical_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "circuitgen/checked_circuit.h"
#include "circuitgen/fingerprint.h"
#include "circuitgen/generators/registry.h"
#include "circuitgen/layering.h"
#include "circuits.h"

namespace tinyot {
namespace {

using circuit::CheckedCircuit;
using circuit::Reference;

std::vector<Gate> stream_of(const Circuit& circuit) {
  RecordingSink sink;
  circuit.generate(sink);
  return sink.gates;
}

// As a run evaluates it.
std::unique_ptr<Circuit> checked(const TestCircuit& circuit) {
  CollectedBytes ignored;
  return std::make_unique<CheckedCircuit>(std::make_shared<TestCircuit>(circuit),
                                          circuit::encode_gates(circuit, ignored).record);
}

// The same gates in another stream: with new numbers of wires, each constant declared anew for each
// reader, inputs at the beginning or right before their readers, outputs at once or at the end, in
// any order, and no Free event.
TestCircuit disguised(const TestCircuit& circuit, std::mt19937_64& rng) {
  const bool inputs_first = (rng() & 1) != 0, outputs_at_once = (rng() & 1) != 0;
  struct Value {
    std::optional<WireId> wire;  // in the new stream
    Gate declaration;            // of an input or constant
  };
  std::map<WireId, std::shared_ptr<Value>> live;
  std::vector<Gate> stream;
  WireId next = rng() % 10;
  const auto make = [&](GateKind kind, std::uint64_t in0, std::uint64_t in1) {
    stream.push_back({kind, next, in0, in1});
    return std::exchange(next, next + 1 + rng() % 3);
  };
  const auto read = [&](const std::shared_ptr<Value>& value) {
    const Gate& declared = value->declaration;
    if (declared.kind == GateKind::Const) return make(GateKind::Const, declared.in0, 0);
    if (!value->wire) value->wire = make(GateKind::Input, declared.in0, declared.in1);
    return *value->wire;
  };
  std::vector<std::pair<Gate, std::shared_ptr<Value>>> outputs;
  const std::vector<Gate> given = stream_of(circuit);
  std::vector<Gate> inputs;
  std::ranges::copy_if(given, std::back_inserter(inputs),
                       [](const Gate& gate) { return gate.kind == GateKind::Input; });
  std::shuffle(inputs.begin(), inputs.end(), rng);
  std::map<std::pair<std::uint64_t, std::uint64_t>, WireId> declared;
  if (inputs_first)
    for (const Gate& gate : inputs)
      declared[{gate.in0, gate.in1}] = make(GateKind::Input, gate.in0, gate.in1);
  for (const Gate& gate : given) {
    switch (gate.kind) {
      case GateKind::Input:
      case GateKind::Const:
        live[gate.out] = std::make_shared<Value>(Value{{}, gate});
        if (gate.kind == GateKind::Input && inputs_first)
          live[gate.out]->wire = declared[{gate.in0, gate.in1}];
        break;
      case GateKind::Free:
        live.erase(gate.in0);
        break;
      case GateKind::Output:
        outputs.emplace_back(gate, live.at(gate.in0));
        break;
      default: {
        const WireId x = read(live.at(gate.in0));
        const WireId y = gate.kind == GateKind::Not ? 0 : read(live.at(gate.in1));
        live[gate.out] =
            std::make_shared<Value>(Value{make(gate.kind, x, y), {GateKind::Xor, 0, 0, 0}});
      }
    }
    if (!outputs_at_once) continue;
    for (const auto& [output, value] : std::exchange(outputs, {}))
      stream.push_back({GateKind::Output, output.out, read(value), output.in1});
  }
  std::shuffle(outputs.begin(), outputs.end(), rng);
  for (const auto& [output, value] : outputs)
    stream.push_back({GateKind::Output, output.out, read(value), output.in1});
  return TestCircuit(circuit.info(), std::move(stream));
}

// What the parties exchange in each round.
struct RoundShape {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> inputs;
  std::size_t ands, invariant_ands;
  friend bool operator==(const RoundShape&, const RoundShape&) = default;
};
std::vector<RoundShape> rounds_of(const Circuit& circuit, std::size_t lanes, std::size_t window) {
  struct Sink final : circuit::RoundSink {
    void round(circuit::Round& round) override {
      rounds.push_back({{}, round.ands.size(), round.invariant_ands.size()});
      for (const circuit::RoundInput& input : round.inputs)
        rounds.back().inputs.emplace_back(input.bundle, input.bit);
    }
    std::vector<RoundShape> rounds;
  } sink;
  circuit::generate_rounds(circuit, lanes, window, sink);
  return sink.rounds;
}

TEST(CanonicalStream, SameGatesHaveOneEncodingAndTheSameRounds) {
  std::mt19937_64 rng(1);
  for (int i = 0; i < 200; ++i) {
    const TestCircuit circuit = random_circuit(rng, 10 + rng() % 200, 1 + rng() % 4);
    const TestCircuit other = disguised(circuit, rng);
    EXPECT_EQ(encoding_of(circuit), encoding_of(other));
    const auto one = checked(circuit), two = checked(other);
    EXPECT_EQ(encoding_of(*one), encoding_of(circuit)) << "it is its own canonical form";
    for (const std::size_t window : {1, 3, 16, 1000})
      for (const std::size_t lanes : {1, 2})
        ASSERT_EQ(rounds_of(*one, lanes, window), rounds_of(*two, lanes, window))
            << "circuit " << i << ", window " << window << ", lanes " << lanes;
  }
}

// Without the canonical order, the same two streams have other rounds: the test above is not void.
TEST(CanonicalStream, RoundsFollowFromTheOrderOfEvents) {
  std::mt19937_64 rng(1);
  std::size_t different = 0;
  for (int i = 0; i < 50; ++i) {
    const TestCircuit circuit = random_circuit(rng, 200, 2), other = disguised(circuit, rng);
    different += rounds_of(circuit, 1, 16) != rounds_of(other, 1, 16);
  }
  EXPECT_GT(different, 40u);
}

std::vector<bool> bits_of(const std::vector<LaneValues>& outputs) {
  std::vector<bool> bits;
  for (const LaneValues& values : outputs)
    for (const BitVector& value : values)
      for (std::size_t i = 0; i < value.size(); ++i) bits.push_back(value[i]);
  return bits;
}

TEST(CanonicalStream, ComputesTheSame) {
  std::mt19937_64 rng(2);
  for (int i = 0; i < 100; ++i) {
    const TestCircuit circuit = random_circuit(rng, 10 + rng() % 300, 1 + rng() % 4);
    const auto inputs = random_inputs(circuit.info(), 70, rng);
    EXPECT_EQ(bits_of(evaluate(*checked(circuit), 70, inputs)),
              bits_of(evaluate(circuit, 70, inputs)));
  }
}

TEST(CanonicalStream, InputsAtTheirReadersAndOutputsAtTheEnd) {
  // Input 0 is an output and is read later, input 1 has no reader, input 2 only an output;
  // a constant is declared three times.
  const CircuitInfo info = test_info({3}, {4});
  using enum GateKind;
  const TestCircuit circuit(info, {{Input, 10, 0, 0},
                                   {Input, 11, 0, 1},
                                   {Input, 12, 0, 2},
                                   {Output, 0, 10, 3},
                                   {Output, 0, 12, 2},
                                   {Free, 0, 12, 0},
                                   {Const, 13, 1, 0},
                                   {Const, 14, 1, 0},
                                   {Free, 0, 11, 0},
                                   {And, 11, 10, 14},
                                   {Free, 0, 10, 0},
                                   {Output, 0, 11, 1},
                                   {Xor, 12, 11, 13},
                                   {Free, 0, 11, 0},
                                   {Const, 10, 1, 0},
                                   {Output, 0, 10, 0}});
  std::string text;
  const std::map<GateKind, std::string> names = {{Input, "in"}, {Const, "const"}, {Xor, "xor"},
                                                 {And, "and"},  {Not, "not"},     {Output, "out"},
                                                 {Free, "free"}};
  for (const Gate& gate : stream_of(*checked(circuit))) {
    text += names.at(gate.kind) + " ";
    if (gate.kind == Input || gate.kind == Output) text += std::to_string(gate.in1) + " ";
  }
  EXPECT_EQ(text, "in 0 const and xor out 0 out 1 in 2 out 2 out 3 ");
}

TEST(CanonicalStream, HasTheDocumentedEncoding) {
  using enum GateKind;
  const TestCircuit circuit(test_info({2, 1}, {3}), {{Input, 0, 1, 0},
                                                     {Input, 1, 0, 1},
                                                     {Xor, 2, 0, 1},
                                                     {Const, 3, 1, 0},
                                                     {And, 4, 2, 3},
                                                     {Not, 5, 2, 0},
                                                     {And, 6, 5, 4},
                                                     {Output, 0, 6, 0},
                                                     {Output, 0, 3, 1},
                                                     {Output, 0, 1, 2}});
  const std::vector<int> wanted = {5,         'g', 'a',       't',
                                   'e',       's', 4 * 6 + 1, 4,  // XOR of input bits 2 and 1
                                   4 * 3 + 2, 1,                  // AND of the gate before and 1
                                   4 * 5 + 3,                     // NOT of the gate before that
                                   4 * 3 + 2, 5,                  // AND of the last two
                                   0,                             // the end
                                   3,         1,   4};            // the last gate, 1, input bit 1
  EXPECT_EQ(encoding_of(circuit), wanted);

  CollectedBytes interface;
  CircuitInfo info = test_info({1}, {300});
  info.inputs[0].name = "key";
  info.inputs[0].same_in_all_lanes = true;
  circuit::encode_interface(info, interface);
  std::string text = {1, 3, 'k', 'e', 'y', 1, 1, 'A', 7};
  text += std::string("integer") + '\6' + "common" + '\1' + '\1' + '0' + '\xac' + '\2' + '\4' +
          "both" + '\7' + "integer";
  std::string found;
  for (const int byte : interface.bytes) found.push_back(static_cast<char>(byte));
  EXPECT_EQ(found, text);
}

// Every kind, operand and output changed singly, in a circuit that reads all of its wires.
TEST(CanonicalStream, EveryChangeOfAGateChangesTheEncoding) {
  std::mt19937_64 rng(3);
  const TestCircuit circuit = random_circuit(rng, 60, 1);
  const std::vector<Gate> stream = stream_of(circuit);
  const auto whole = encoding_of(circuit);
  std::size_t changes = 0;
  const auto expect_other = [&](std::size_t at, const Gate& gate) {
    std::vector<Gate> changed = stream;
    changed[at] = gate;
    EXPECT_NE(encoding_of(TestCircuit(circuit.info(), std::move(changed))), whole) << at;
    ++changes;
  };
  std::vector<WireId> live;
  std::map<WireId, bool> constant;  // by wire: its value
  for (std::size_t i = 0; i < stream.size(); ++i) {
    const Gate& gate = stream[i];
    const auto is_same = [&](WireId x, WireId y) {
      return x == y || (constant.contains(x) && constant.contains(y) && constant[x] == constant[y]);
    };
    using enum GateKind;
    if (gate.kind == Xor) expect_other(i, {And, gate.out, gate.in0, gate.in1});
    if (gate.kind == And) expect_other(i, {Xor, gate.out, gate.in0, gate.in1});
    if (gate.kind == Not) expect_other(i, {Xor, gate.out, gate.in0, gate.in0});
    for (const WireId wire : live) {
      const bool has_in0 =
          gate.kind == Xor || gate.kind == And || gate.kind == Not || gate.kind == Output;
      if (has_in0 && !is_same(wire, gate.in0)) {
        Gate other = gate;
        other.in0 = wire;
        expect_other(i, other);
      }
      if ((gate.kind == Xor || gate.kind == And) && !is_same(wire, gate.in1)) {
        Gate other = gate;
        other.in1 = wire;
        expect_other(i, other);
      }
    }
    if (gate.kind == Free) {
      std::erase(live, gate.in0);
    } else if (gate.kind != Output) {
      live.push_back(gate.out);
      constant.erase(gate.out);
      if (gate.kind == Const) constant[gate.out] = gate.in0 != 0;
    }
  }
  EXPECT_GT(changes, 300u);
}

TEST(CanonicalStream, RejectsMalformedStreams) {
  using enum GateKind;
  const CircuitInfo info = test_info({1}, {1});
  const std::vector<Gate> good = {{Input, 0, 0, 0}, {Output, 0, 0, 0}};
  const auto refused = [&](std::vector<Gate> gates) {
    EXPECT_THROW(encoding_of(TestCircuit(info, std::move(gates))), std::logic_error);
  };
  EXPECT_FALSE(encoding_of(TestCircuit(info, good)).empty());
  refused({{Input, 0, 0, 0}});                    // no output
  refused({good[0], good[1], good[1]});           // twice
  refused({good[0], {Input, 1, 0, 0}, good[1]});  // an input bit twice
  refused({good[0], {Input, 1, 0, 1}, good[1]});  // beyond its bundle
  refused({good[0], {Input, 1, 1, 0}, good[1]});  // no such bundle
  refused({good[0], {Output, 0, 0, 1}});          // and of outputs
  refused({good[0], {Output, 1, 0, 0}});
  refused({good[0], {Const, 1, 2, 0}, good[1]});
  refused({good[0], {Xor, 1, 0, 2}, good[1]});   // a wire that is not written
  refused({good[0], {Free, 0, 0, 0}, good[1]});  // read after it is freed
}

}  // namespace
}  // namespace tinyot
