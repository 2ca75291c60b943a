// Lists of gates with truth tables.
#include "circuit_texts.h"
#include "circuitgen/cost.h"
#include "circuitgen/formats/truth_table.h"
#include "circuits.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

std::string digits_of(unsigned table, unsigned rows) {
  std::string digits;
  for (unsigned row = 0; row < rows; ++row) digits += static_cast<char>('0' + ((table >> row) & 1));
  return digits;
}

// A gate over the wires 0..2 in any order and multiplicity; row r of the table is digit r, the
// first input is the most significant bit.
void expect_table(const std::vector<unsigned>& ins, unsigned table) {
  std::string text = std::to_string(ins.size()) + " 1";
  for (const unsigned wire : ins) text += " " + std::to_string(wire);
  text += " 3 " + digits_of(table, 1u << ins.size()) + "\n";
  const auto circuit = parse(text + "3 1 0 1 2 4 00000001\n", {.bundles = {3}});
  for (unsigned value = 0; value < 8; ++value) {
    unsigned row = 0;
    for (const unsigned wire : ins) row = 2 * row + ((value >> wire) & 1);
    EXPECT_EQ(result(*circuit, {value}), ((table >> row) & 1) | (value == 7 ? 2 : 0))
        << text << value;
  }
}

TEST(TruthTableFile, EveryFunctionOfUpToThreeInputsIsCorrect) {
  for (unsigned table = 0; table < 256; ++table) {
    for (const auto& ins : {std::vector<unsigned>{0, 1, 2}, {2, 0, 1}}) expect_table(ins, table);
  }
  for (unsigned table = 0; table < 16; ++table) {
    for (const auto& ins : {std::vector<unsigned>{0, 1}, {2, 0}, {1, 1}}) expect_table(ins, table);
  }
  for (unsigned table = 0; table < 4; ++table) expect_table({1}, table);
  for (unsigned table = 0; table < 2; ++table) expect_table({}, table);
}

TEST(TruthTableFile, RepeatedInputsTakeNoAnd) {
  for (unsigned table = 0; table < 256; ++table) {
    for (const auto& ins : {std::vector<unsigned>{0, 0, 1}, {0, 1, 0}, {1, 0, 0}})
      expect_table(ins, table);
  }
  EXPECT_EQ(cost_of(*parse("3 1 0 0 0 1 00000001\n")).ands, 0u);
  EXPECT_EQ(cost_of(*parse("3 1 0 0 1 2 00000001\n")).ands, 1u);
  EXPECT_EQ(cost_of(*parse("3 1 0 1 2 3 00000001\n")).ands, 2u);
}

TEST(TruthTableFile, CopyTakesNoGate) {
  const CircuitCost cost = cost_of(*parse("1 1 0 2 01\n2 1 2 1 3 0011\n3 1 3 1 0 4 00001111\n"));
  EXPECT_EQ(cost.ands + cost.xors + cost.nots, 0u);
}

TEST(TruthTableFile, InfersInputsAndOutputsFromTheGates) {
  const std::string text = "2 1 0 5 7 0001\n2 1 7 3 9 0110\n2 1 7 1 8 0111\n";
  const auto circuit = parse(text);
  ASSERT_EQ(circuit->info().inputs.size(), 1u);
  EXPECT_EQ(circuit->info().inputs[0].bits, 7u) << "wires 0..6 are below all written wires";
  EXPECT_EQ(circuit->info().inputs[0].source, InputSource::A);
  ASSERT_EQ(circuit->info().outputs.size(), 1u);
  EXPECT_EQ(circuit->info().outputs[0].bits, 2u);
  // Outputs in the order of their numbers: 8 = (w0 & w5) | w1, 9 = (w0 & w5) ^ w3.
  EXPECT_EQ(result(*circuit, {0x21}), 3u);
  EXPECT_EQ(result(*circuit, {0x29}), 1u);
  EXPECT_EQ(result(*circuit, {0x02}), 1u);

  const auto in_three = parse(
      text,
      {.sources = {{2, InputSource::B}}, .receivers = {{0, Receiver::A}}, .bundles = {1, 4, 2}});
  ASSERT_EQ(in_three->info().inputs.size(), 3u);
  EXPECT_EQ(in_three->info().inputs[1].bits, 4u);
  EXPECT_EQ(in_three->info().inputs[1].source, InputSource::B);
  EXPECT_EQ(in_three->info().inputs[2].source, InputSource::B);
  EXPECT_EQ(in_three->info().outputs[0].to, Receiver::A);
  EXPECT_EQ(result(*in_three, {1, 0, 1}), 3u);

  // As many bits as input wires that are read: 0, 1, 3, 5.
  const auto dense = parse(text, {.bundles = {2, 2}});
  EXPECT_EQ(result(*dense, {1, 2}), 3u);
  EXPECT_EQ(result(*dense, {1, 3}), 1u);

  // An input may have a number above those of gates.
  EXPECT_EQ(result(*parse("2 1 0 9 1 0001\n", {.bundles = {1, 1}}), {1, 1}), 1u);
}

TEST(TruthTableFile, RejectsMalformedFilesWithLineAndReason) {
  const std::string gate = "2 1 0 1 2 0001\n";
  expect_refused({
      {gate + "2 1 0 1 3 0012\n",
       "line 2: '0012' is not a truth table, which has the digits 0 and 1 only"},
      {"2 1 0 1 2 0201\n", "line 1: '0201' is not a truth table"},
      {gate + "2 1 0 1 3 AND\n", "line 2: 'AND' is not a truth table"},
      {gate + "2 1 0 1 3 011\n", "line 2: the truth table has 3 digits, but 2 inputs need 4"},
      {gate + "2 1 0 1 3 01100\n", "line 2: the truth table has 5 digits, but 2 inputs need 4"},
      {gate + "3 1 0 1 2 3 0110\n", "line 2: the truth table has 4 digits, but 3 inputs need 8"},
      {gate + "4 1 0 1 2 3 4 0000000000000001\n", "line 2: a gate has at most three inputs, not 4"},
      {gate + "2 2 0 1 3 4 0001\n", "line 2: a gate has one output, not 2"},
      {gate + "2 0 0 1 0001\n", "line 2: a gate has one output, not 0"},
      {gate + "2 1\n",
       "line 2: a gate needs the numbers of its inputs and outputs, its wires and its truth table"},
      {gate + "2 1 0 1 0001\n",
       "line 2: the gate announces 2 inputs and 1 outputs, but 2 wires are given"},
      {gate + "2 1 0 1 3 4 0001\n",
       "line 2: the gate announces 2 inputs and 1 outputs, but 4 wires are given"},
      {gate + "2 1 0 x 3 0001\n", "line 2: 'x' is not a number"},
      {gate + "2 1 0 -1 3 0001\n", "line 2: '-1' is not a number"},
      {gate + "2 1 0 99999999 3 0001\n",
       "line 2: wire 99999999 is out of range for a file of this length"},
      {gate + "2 1 0 4294967296 3 0001\n",
       "line 2: wire 4294967296 is out of range for any circuit"},
      {gate + "\n" + gate, "line 3: wire 2 is written twice"},
      {gate + "2 1 0 1 1 0001\n", "line 2: wire 1 is read before it is written here"},
      {"2 1 0 3 2 0001\n2 1 0 1 3 0001\n", "line 2: wire 3 is read before it is written here"},
      {"2 1 0 2 2 0001\n", "line 1: wire 2 is read before it is written here"},
  });
  expect_refused({{gate, "line 1: the circuit has 2 inputs, but the bundles have 3 bits"}},
                 {.bundles = {1, 2}});
  EXPECT_NE(message_of(gate, {.bundles = {2, 0}}).find("an input bundle cannot be 0 bits wide"),
            std::string::npos);
  EXPECT_NE(message_of(gate, {.sources = {{1, InputSource::A}}}).find("no input bundle 1"),
            std::string::npos);
  EXPECT_NE(message_of(gate, {.receivers = {{1, Receiver::A}}}).find("no output bundle 1"),
            std::string::npos);
}

}  // namespace
}  // namespace tinyot
