// Circuits made by functions.
#include <gtest/gtest.h>
#include <tinyot/circuit.h>
#include <tinyot/error.h>

#include "tests/support/two_threads.h"

namespace tinyot::circuit {
namespace {

using namespace tinyot::test;

struct Counter : GateSink {
  void emit(const Gate& gate) override {
    ands += gate.kind == GateKind::And;
    outputs += gate.kind == GateKind::Output;
  }
  int ands = 0, outputs = 0;
};

TEST(MakeCircuit, LearnsTheInterfaceFromTheFunction) {
  const auto circuit = make_circuit("f", [](Program& program) {
    const Number x = program.input("x", 8, Party::A);
    const Word<4> y = program.input<4>("y", Party::B);
    const Number z = program.common_input("z", 1, Party::B),
                 s = program.input("s", 2, InputSource::Shared);
    program.output("sum", x + x, Receiver::A);
    program.output("y", y, Receiver::None);
    program.output("bit", z[0] & s[1]);
  });
  const CircuitInfo& info = circuit->info();
  EXPECT_EQ(info.name, "f");
  ASSERT_EQ(info.inputs.size(), 4u);
  EXPECT_EQ(info.inputs[0].name, "x");
  EXPECT_EQ(info.inputs[0].bits, 8u);
  EXPECT_EQ(info.inputs[0].source, InputSource::A);
  EXPECT_EQ(info.inputs[1].source, InputSource::B);
  EXPECT_FALSE(info.inputs[1].same_in_all_lanes);
  EXPECT_TRUE(info.inputs[2].same_in_all_lanes);
  EXPECT_EQ(info.inputs[3].source, InputSource::Shared);
  ASSERT_EQ(info.outputs.size(), 3u);
  EXPECT_EQ(info.outputs[0].to, Receiver::A);
  EXPECT_EQ(info.outputs[1].to, Receiver::None);
  EXPECT_EQ(info.outputs[2].to, Receiver::Both);
  for (int time = 0; time < 2; ++time) {
    Counter counter;
    circuit->generate(counter);
    EXPECT_EQ(counter.ands, 7) << "6 of the sum of x and x, 1 of the bit";
    EXPECT_EQ(counter.outputs, 13);
  }
}

TEST(MakeCircuit, RefusesNamesThatAreNotUnique) {
  EXPECT_THROW(make_circuit("f",
                            [](Program& program) {
                              program.input("x", 1, Party::A);
                              program.input("x", 1, Party::B);
                            }),
               std::logic_error);
  EXPECT_THROW(make_circuit("f",
                            [](Program& program) {
                              const Number x = program.input("x", 1, Party::A);
                              program.output("y", x);
                              program.output("y", x);
                            }),
               std::logic_error);
  EXPECT_THROW(make_circuit("f", [](Program& program) { program.input("", 1, Party::A); }),
               std::logic_error);
}

TEST(MakeCircuit, RefusesFunctionsWhoseDeclarationsChange) {
  int calls = 0;
  const auto wider = make_circuit("f", [&](Program& program) {
    program.output("y", program.input("x", calls++ == 0 ? 1 : 2, Party::A));
  });
  Counter counter;
  EXPECT_THROW(wider->generate(counter), UsageError);
  calls = 0;
  const auto fewer = make_circuit("f", [&](Program& program) {
    if (calls++ == 0) program.input("x", 1, Party::A);
  });
  EXPECT_THROW(fewer->generate(counter), UsageError);
}

TEST(MakeCircuit, RefusesOperandsOfDifferentWidths) {
  EXPECT_THROW(make_circuit("f",
                            [](Program& program) {
                              program.output("z", program.input("x", 2, Party::A) +
                                                      program.input("y", 3, Party::B));
                            }),
               std::logic_error);
}

TEST(NamedCircuit, FindsBuiltInCircuits) {
  EXPECT_EQ(named_circuit("aes128")->info().outputs[0].name, "ciphertext");
  EXPECT_THROW(named_circuit("no-such"), UsageError);
}

TEST(CircuitFile, IsReadWithItsOwners) {
  const TestDirectory directory;
  write_file(directory / "and.txt", "1 3\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n");
  const auto circuit = read_circuit_file(directory / "and.txt");
  EXPECT_EQ(circuit->info().name, "and");
  EXPECT_EQ(circuit->info().inputs[1].source, InputSource::B);
  EXPECT_THROW(read_circuit_file(directory / "missing.txt"), UsageError);
}

}  // namespace
}  // namespace tinyot::circuit
