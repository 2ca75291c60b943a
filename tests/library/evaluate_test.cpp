// Circuits without a peer.
#include <gtest/gtest.h>
#include <tinyot/circuit.h>
#include <tinyot/error.h>
#include <tinyot/evaluate.h>

#include "tests/support/two_threads.h"

namespace tinyot::circuit {
namespace {

using namespace tinyot::test;

std::unique_ptr<Circuit> multiply_add() {
  return make_circuit("multiply-add", [](Program& program) {
    const Word<8> x = program.input<8>("x", Party::A), y = program.input<8>("y", Party::B);
    const Number z = program.input("z", 8, InputSource::Shared);
    program.output("result", x * y + Word<8>(z), Receiver::None);
  });
}

TEST(PlainEvaluation, HasInputsAndOutputsOfBothParties) {
  Values inputs;
  const std::uint64_t x[] = {3, 200}, y[] = {5, 7}, z[] = {1, 255};
  inputs.set("x", x).set("y", y).set("z", z);
  const Values outputs = evaluate(*multiply_add(), inputs, 2);
  EXPECT_EQ(outputs.integer("result", 0), 16u);
  EXPECT_EQ(outputs.integer("result", 1), (200u * 7 + 255) % 256);
}

TEST(PlainEvaluation, RefusesInputsThatDoNotFit) {
  const auto circuit = multiply_add();
  Values inputs;
  inputs.set("x", 1).set("y", 2);
  EXPECT_EQ(message_of([&] { evaluate(*circuit, inputs); }), "input z is missing");
  inputs.set("z", 256);
  EXPECT_EQ(message_of([&] { evaluate(*circuit, inputs); }),
            "a value of input z has more than 8 bits");
  inputs.set("z", 0);
  EXPECT_EQ(message_of([&] { evaluate(*circuit, inputs, 2); }),
            "input x has 1 values instead of 2");
  inputs.set("w", 0);
  EXPECT_EQ(message_of([&] { evaluate(*circuit, inputs); }),
            "the circuit has no input w; it has x, y, z");
  const auto named = named_circuit("aes128");
  EXPECT_EQ(
      message_of([&] { evaluate(*named, Values().set("mesage", 1)); }),
      "the circuit has no input mesage (did you mean message?); it has key_a, key_b, message");
}

TEST(GateCountsOfCircuit, HaveDepthAndKinds) {
  const auto circuit = make_circuit("f", [](Program& program) {
    const Word<4> x = program.input<4>("x", Party::A);
    program.output("f", ~(x[0] & x[1] & x[2]) ^ x[3]);
  });
  const GateCounts counts = count_gates(*circuit);
  EXPECT_EQ(counts.ands, 2u);
  EXPECT_EQ(counts.and_depth, 2u);
  EXPECT_EQ(counts.xors, 1u);
  EXPECT_EQ(counts.nots, 1u);
}

}  // namespace
}  // namespace tinyot::circuit
