// Bristol Fashion: accepted and rejected files.
#include "circuit_texts.h"
#include "circuits.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

TEST(BristolFashion, ReadsEveryOperation) {
  // 4..5 = two ANDs, 6 = 1, 7 = w4 ^ w5, 8 = ~w7, 9 = copy of w8, 10 = w9 & w6, outputs 11 = copy
  // of w0, 12 = w10 ^ w4.
  const std::string text =
      "8 13\n2 2 2\n1 2\n\n"
      "4 2 0 1 2 3 4 5 MAND\n1 1 1 6 EQ\n2 1 4 5 7 XOR\n1 1 7 8 INV\n"
      "1 1 8 9 EQW\n2 1 9 6 10 AND\n1 1 0 11 EQW\n2 1 10 4 12 XOR\n";
  std::string crlf;
  for (const char c : text) crlf += c == '\n' ? std::string("\r\n\r\n") : std::string(1, c);
  for (const std::string& variant :
       {text, crlf, text.substr(0, text.size() - 1), "\n \n" + text + "\n\t\n"}) {
    const auto circuit = parse(variant);
    for (std::uint64_t a = 0; a < 4; ++a) {
      for (std::uint64_t b = 0; b < 4; ++b) {
        const std::uint64_t w4 = a & b & 1, w5 = (a & b) >> 1, w10 = (w4 ^ w5) ^ 1;
        EXPECT_EQ(result(*circuit, {a, b}), (a & 1) | ((w10 ^ w4) << 1));
      }
    }
  }
}

TEST(BristolFashion, FreesEachWireAfterItsLastUse) {
  const auto circuit =
      parse("4 7\n1 3\n1 2\n2 1 0 0 3 AND\n2 1 0 1 4 XOR\n1 1 3 5 EQW\n1 1 5 6 EQW\n");
  RecordingSink sink;
  circuit->generate(sink);
  const Gate expected[] = {{GateKind::Input, 0, 0, 0},  {GateKind::Input, 1, 0, 1},
                           {GateKind::And, 2, 0, 0},    {GateKind::Xor, 3, 0, 1},
                           {GateKind::Free, 0, 0, 0},   {GateKind::Free, 0, 1, 0},
                           {GateKind::Free, 0, 3, 0},   {GateKind::Output, 0, 2, 0},
                           {GateKind::Output, 0, 2, 1}, {GateKind::Free, 0, 2, 0}};
  ASSERT_EQ(sink.gates.size(), std::size(expected));
  for (std::size_t i = 0; i < sink.gates.size(); ++i) {
    EXPECT_EQ(sink.gates[i].kind, expected[i].kind) << i;
    EXPECT_EQ(sink.gates[i].out, expected[i].out) << i;
    EXPECT_EQ(sink.gates[i].in0, expected[i].in0) << i;
    EXPECT_EQ(sink.gates[i].in1, expected[i].in1) << i;
  }
}

TEST(BristolFashion, WireIsLiveUntilAllAndsOfALineHaveReadIt) {
  const auto circuit = parse("1 4\n1 2\n1 2\n4 2 0 1 1 0 2 3 MAND\n");
  for (std::uint64_t value = 0; value < 4; ++value)
    EXPECT_EQ(result(*circuit, {value}), value == 3 ? 3u : 0u);
}

TEST(BristolFashion, NameMayOutliveTheCopiedWire) {
  // 2 and 3 are names of w0 and are read after its own last read; the name 4 is never read.
  const auto circuit = parse(
      "5 7\n2 1 1\n1 2\n1 1 0 2 EQW\n1 1 2 3 EQW\n1 1 3 4 EQW\n2 1 2 1 5 AND\n2 1 3 1 6 XOR\n");
  for (std::uint64_t x = 0; x < 2; ++x) {
    for (std::uint64_t y = 0; y < 2; ++y)
      EXPECT_EQ(result(*circuit, {x, y}), (x & y) | (x ^ y) << 1);
  }
}

TEST(BristolFashion, AppliesOwnersAndReceivers) {
  const std::string text = "1 7\n3 2 1 3\n2 1 1\n2 1 0 1 6 AND\n";
  const auto plain = parse(text);
  ASSERT_EQ(plain->info().inputs.size(), 3u);
  EXPECT_EQ(plain->info().inputs[0].source, InputSource::A);
  EXPECT_EQ(plain->info().inputs[1].source, InputSource::B);
  EXPECT_EQ(plain->info().inputs[2].source, InputSource::A);
  EXPECT_EQ(plain->info().inputs[2].name, "2");
  EXPECT_EQ(plain->info().inputs[2].bits, 3u);
  EXPECT_EQ(plain->info().outputs[1].to, Receiver::Both);
  const auto chosen = parse(text, {.sources = {{0, InputSource::B}, {2, InputSource::B}},
                                   .receivers = {{1, Receiver::A}}});
  EXPECT_EQ(chosen->info().inputs[0].source, InputSource::B);
  EXPECT_EQ(chosen->info().inputs[2].source, InputSource::B);
  EXPECT_EQ(chosen->info().outputs[0].to, Receiver::Both);
  EXPECT_EQ(chosen->info().outputs[1].to, Receiver::A);
  EXPECT_NE(message_of(text, {.sources = {{3, InputSource::B}}, .receivers = {}})
                .find("no input bundle 3"),
            std::string::npos);
  EXPECT_NE(
      message_of(text, {.sources = {}, .receivers = {{2, Receiver::A}}}).find("no output bundle 2"),
      std::string::npos);
}

TEST(BristolFashion, ToleratesGapsAndInputsThatAreOutputs) {
  EXPECT_EQ(result(*parse("1 20\n1 2\n1 1\n2 1 0 1 19 AND\n"), {3}), 1u);
  EXPECT_EQ(result(*parse("0 3\n1 3\n1 3\n"), {5}), 5u);
}

TEST(BristolFashion, RejectsMalformedFilesWithLineAndReason) {
  const std::string header = "2 6\n2 2 1\n1 1\n";
  const std::vector<RefusedText> rows = {
      {"", "line 0: the file ends before its header"},
      {"2 6\n2 2 1\n", "line 2: the file ends before its header"},
      {"2\n2 2 1\n1 1\n", "line 1: the first line must be two numbers"},
      {"2 6 1\n2 2 1\n1 1\n", "line 1: the first line must be two numbers"},
      {"2 x\n2 2 1\n1 1\n", "line 1: 'x' is not a number"},
      {"-2 6\n2 2 1\n1 1\n", "line 1: '-2' is not a number"},
      {"99999999999999999999 6\n", "line 1: the number '99999999999999999999' is too large"},
      {"2 99999999\n2 2 1\n1 1\n",
       "line 1: the header announces 99999999 wires, too many for a file of"},
      {"18446744073709551615 6\n2 2 1\n1 1\n",
       "line 1: the header announces 18446744073709551615 gates, too many"},
      {"2 6\n3 2 1\n1 1\n", "line 2: 3 input bundles are announced, but 2 widths are given"},
      {"2 6\n2 2 5\n1 1\n", "line 2: the input bundles have more bits than the 6 wires"},
      {"2 6\n2 2 18446744073709551615\n1 1\n", "line 2: the input bundles have more bits"},
      {"2 6\n2 0 1\n1 1\n", "line 2: input bundle 0 has no bits"},
      {"2 6\n2 2 1\n1 7\n", "line 3: the output bundles have more bits"},
      {"2 6\n2 2 1\n2 1\n", "line 3: 2 output bundles are announced, but 1 widths are given"},
      {header + "2 1 0 1 3 AND\n", "line 4: the file ends after 1 of the 2 gates"},
      {header + "2 1 0 1 3 AND\n2 1 0 3 5 XOR\n2 1 0 3 4 XOR\n",
       "line 6: there is text after the last of the 2 gates"},
      {header + "2 1 0 1 3 AND\n2 1 0 3 5 XOR\ngarbage\n", "line 6: there is text after the last"},
      {header + "2 1 0 6 3 AND\n", "line 4: wire 6 is out of range, the header announces 6 wires"},
      {header + "2 1 0 1 6 AND\n", "line 4: wire 6 is out of range"},
      {header + "2 1 0 18446744073709551616 3 AND\n",
       "line 4: the number '18446744073709551616' is too large"},
      {header + "2 1 0 1 3 AND\n2 1 0 1 3 AND\n", "line 5: wire 3 is written twice"},
      {header + "2 1 0 1 2 AND\n", "line 4: wire 2 is an input and cannot be written"},
      {header + "2 1 0 4 3 AND\n", "line 4: wire 4 is read before it is written"},
      {header + "1 1 3 3 INV\n", "line 4: wire 3 is read before it is written"},
      {header + "4 2 0 1 2 3 3 4 MAND\n", "line 4: wire 3 is read before it is written"},
      {header + "4 2 0 1 2 0 3 3 MAND\n", "line 4: wire 3 is written twice"},
      {header + "2 1 0 1 3 AND\n1 1 3 4 INV\n", "line 5: output wire 5 is never written"},
      {header + "2 1 0 1 3 OR\n", "line 4: unknown operation 'OR'; the operations are"},
      {header + "2 1 0 1 3 and\n", "line 4: unknown operation 'and'"},
      {header + "2 1 0 1 3\n", "line 4: unknown operation '3'"},
      {header + "2 1 0 1 3 4 AND\n",
       "line 4: the gate announces 2 inputs and 1 outputs, but 4 wires are given"},
      {header + "2 1 0 1 AND\n",
       "line 4: the gate announces 2 inputs and 1 outputs, but 2 wires are given"},
      {header + "18446744073709551615 4 0 1 3 AND\n",
       "line 4: the number '18446744073709551615' has too many digits"},
      {header + "4000000000 4 0 1 3 AND\n", "line 4: the gate announces 4000000000 inputs"},
      {header + "2 AND\n", "line 4: a gate needs"},
      {header + "3 1 0 1 2 3 AND\n", "line 4: AND cannot have 3 inputs and 1 outputs"},
      {header + "2 1 0 1 3 INV\n", "line 4: INV cannot have 2 inputs"},
      {header + "0 0 MAND\n", "line 4: MAND cannot have 0 inputs and 0 outputs"},
      {header + "3 2 0 1 2 3 4 MAND\n", "line 4: MAND cannot have 3 inputs and 2 outputs"},
      {header + "1 1 2 3 EQ\n", "line 4: the constant of EQ must be 0 or 1"},
      {header + "2 1 0x0 1 3 AND\n", "line 4: '0x0' is not a number"},
      {header + "2 1 0 1 3 \x01\x02" + std::string(100, 'A') + "\n",
       "line 4: unknown operation '??AAAAAAAAAAAAAAAAAAAAAA...'"},
      {"3 6\n32 32 33\n1 33\n", "line 2: 32 input bundles are announced, but 2 widths are given"},
      {header + "2 1 0 00000000001 3 AND\n",
       "line 4: the number '00000000001' has too many digits"},
      {header + "2 1 0 4294967295 3 AND\n",
       "line 4: wire 4294967295 is out of range for any circuit"},
      {"0 4294967295\n0\n0\n",
       "line 1: the header announces 4294967295 wires, too many for a file of"},
      {"LICENSE\n",
       "line 1: the first line must be two numbers, gates and wires, or a gate with a truth table"},
      {"2 1 0 1 3 XOR\n", "line 1: the first line must be two numbers"},
  };
  expect_refused(rows);
}

TEST(BristolFashion, RejectsOrToleratesEveryTruncationAndChangedByte) {
  const std::string text =
      "4 7\n2 2 1\n1 2\n\n2 1 0 1 3 AND\n1 1 2 4 INV\n2 1 3 4 5 XOR\n1 1 0 6 EQW\n";
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (int c = 0; c <= 256; ++c) {
      std::string changed = text;
      if (c == 256) {
        changed.resize(i);
      } else {
        changed[i] = static_cast<char>(c);
      }
      try {
        const auto circuit = parse(changed);
        evaluate(*circuit, 1, [&] {
          std::mt19937_64 rng(8);
          return random_inputs(circuit->info(), 1, rng);
        }());
      } catch (const UsageError&) {
      }
    }
  }
}

}  // namespace
}  // namespace tinyot
