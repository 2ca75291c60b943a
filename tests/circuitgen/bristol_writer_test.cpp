// A written circuit, read again, computes the same function at the same cost.
#include "circuitgen/formats/bristol_writer.h"

#include "circuit_file_answers.h"
#include "circuitgen/generators/registry.h"
#include "tests/support/circuit_files.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

TEST(BristolWriter, RoundTripsRandomCircuits) {
  std::mt19937_64 rng(4);
  for (int i = 0; i < 60; ++i)
    expect_round_trip(random_circuit(rng, 40 + rng() % 400, 1 + rng() % 5), rng);
}

TEST(BristolWriter, RoundTripsEveryGenerator) {
  std::mt19937_64 rng(5);
  expect_round_trip(*find_circuit("aes128"), rng);
}

TEST(BristolWriter, RoundTripsEveryFormat) {
  std::mt19937_64 rng(6);
  for (const char* name :
       {"adder64.txt", "neg64.txt", "adder_32bit.txt", "zero_equal.txt", "lt16.lps"})
    expect_round_trip(*open_circuit_file(test::circuit_file(name)), rng);
}

TEST(BristolWriter, WritesInputsInOrderAndCopiesOutputsToTheEnd) {
  // Input bits occur in any order or not at all, an output before the last gate, two outputs are
  // one wire.
  const TestCircuit circuit(test_info({2, 2}, {1, 2}),
                            std::vector<Gate>{{GateKind::Input, 3, 1, 1},
                                              {GateKind::Input, 5, 0, 0},
                                              {GateKind::And, 6, 3, 5},
                                              {GateKind::Output, 1, 6, 1},
                                              {GateKind::Free, 0, 6, 0},
                                              {GateKind::Not, 8, 3, 0},
                                              {GateKind::Const, 9, 1, 0},
                                              {GateKind::Xor, 10, 8, 9},
                                              {GateKind::Output, 0, 10, 0},
                                              {GateKind::Output, 1, 10, 0}});
  EXPECT_EQ(written(circuit),
            "7 11 \n2 2 2 \n2 1 2 \n\n"
            "2 1 3 0 4 AND\n1 1 4 10 EQW\n1 1 3 5 INV\n1 1 1 6 EQ\n2 1 5 6 7 XOR\n1 1 7 8 EQW\n1 1 "
            "7 9 EQW\n");
}

TEST(BristolWriter, RejectsStreamWithoutAnOutput) {
  const TestCircuit circuit(test_info({1}, {2}), std::vector<Gate>{{GateKind::Input, 0, 0, 0},
                                                                   {GateKind::Output, 0, 0, 0}});
  EXPECT_THROW(written(circuit), std::logic_error);
}

}  // namespace
}  // namespace tinyot
