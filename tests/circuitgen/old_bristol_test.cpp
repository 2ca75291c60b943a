// The old Bristol format, and its distinction from Bristol Fashion.
#include "circuit_texts.h"
#include "circuits.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

TEST(OldBristol, ReadsInputsOfBothPartiesAndOneOutput) {
  const auto circuit = parse("3 8\n3 2   2\n\n2 1 0 3 6 AND\n2 1 1 4 5 XOR\n1 1 5 7 INV\n");
  ASSERT_EQ(circuit->info().inputs.size(), 2u);
  EXPECT_EQ(circuit->info().inputs[0].bits, 3u);
  EXPECT_EQ(circuit->info().inputs[0].source, InputSource::A);
  EXPECT_EQ(circuit->info().inputs[1].name, "1");
  EXPECT_EQ(circuit->info().inputs[1].bits, 2u);
  EXPECT_EQ(circuit->info().inputs[1].source, InputSource::B);
  ASSERT_EQ(circuit->info().outputs.size(), 1u);
  EXPECT_EQ(circuit->info().outputs[0].bits, 2u);
  EXPECT_EQ(circuit->info().outputs[0].to, Receiver::Both);
  for (std::uint64_t a = 0; a < 8; ++a) {
    for (std::uint64_t b = 0; b < 4; ++b)
      EXPECT_EQ(result(*circuit, {a, b}), (a & b & 1) | ((((a ^ b) >> 1) & 1) ^ 1) << 1);
  }
}

TEST(OldBristol, OmitsBundlesWithoutBits) {
  const auto only_b = parse("1 3\n0 2 1\n2 1 0 1 2 AND\n",
                            {.sources = {{1, InputSource::A}}, .receivers = {{0, Receiver::B}}});
  ASSERT_EQ(only_b->info().inputs.size(), 1u);
  EXPECT_EQ(only_b->info().inputs[0].name, "1");
  EXPECT_EQ(only_b->info().inputs[0].source, InputSource::A);
  EXPECT_EQ(only_b->info().outputs[0].to, Receiver::B);
  EXPECT_EQ(result(*only_b, {3}), 1u);
  EXPECT_NE(message_of("1 3\n0 2 1\n2 1 0 1 2 AND\n", {.sources = {{0, InputSource::A}}})
                .find("no input bundle 0"),
            std::string::npos);

  const auto only_a = parse("1 3\n2 0 1\n2 1 0 1 2 AND\n");
  ASSERT_EQ(only_a->info().inputs.size(), 1u);
  EXPECT_EQ(only_a->info().inputs[0].name, "0");
  EXPECT_EQ(result(*only_a, {3}), 1u);

  EXPECT_EQ(result(*parse("1 1\n0 0 1\n1 1 1 0 EQ\n"), {}), 1u);
  EXPECT_TRUE(parse("1 2\n1 0 0\n1 1 0 1 INV\n")->info().outputs.empty());
}

TEST(OldBristol, IsDistinguishedFromBristolFashionByItsThirdLine) {
  // "2 1 1" is n_a, n_b, n_out if a gate follows, and two bundles of one bit if the output bundles
  // follow.
  const auto old = parse("1 4\n2 1 1\n2 1 1 2 3 AND\n");
  EXPECT_EQ(old->info().inputs[0].bits, 2u);
  EXPECT_EQ(result(*old, {2, 1}), 1u);
  const auto fashion = parse("1 3\n2 1 1\n1 1\n2 1 0 1 2 AND\n");
  EXPECT_EQ(fashion->info().inputs[0].bits, 1u);
  EXPECT_EQ(result(*fashion, {1, 1}), 1u);

  // Without gates, a file that ends after three numbers has the old format, and one with a third
  // line is Bristol Fashion.
  EXPECT_EQ(result(*parse("0 3\n2 1 3\n"), {2, 1}), 6u);
  EXPECT_EQ(result(*parse("0 3\n2 1 2\n1 3\n"), {1, 3}), 7u);
}

TEST(OldBristol, RejectsMalformedFilesWithLineAndReason) {
  const std::string header = "2 6\n2 1 1\n\n";
  expect_refused({
      {"2 6\n2 5 1\n2 1 0 1 3 AND\n", "line 2: the input bundles have more bits than the 6 wires"},
      {"2 6\n2 1 7\n2 1 0 1 3 AND\n", "line 2: the output bundles have more bits than the 6 wires"},
      {"2 6\n2 1\n2 1 0 1 3 AND\n",
       "line 2: 2 input bundles are announced, but 1 widths are given"},
      {"2 6\n2 x 1\n2 1 0 1 3 AND\n", "line 2: 'x' is not a number"},
      {"1 x\n2 1 1\n2 1 0 1 3 AND\n", "line 1: 'x' is not a number"},
      {"2 99999999\n2 1 1\n2 1 0 1 3 AND\n",
       "line 1: the header announces 99999999 wires, too many for a file of"},
      {header + "2 1 0 1 3 AND\n", "line 4: the file ends after 1 of the 2 gates"},
      {header + "2 1 0 1 3 AND\n2 1 0 3 5 XOR\n1 1 0 4 INV\n",
       "line 6: there is text after the last of the 2 gates"},
      {header + "2 1 0 6 3 AND\n", "line 4: wire 6 is out of range, the header announces 6 wires"},
      {header + "2 1 0 4 3 AND\n", "line 4: wire 4 is read before it is written"},
      {header + "2 1 0 1 2 AND\n", "line 4: wire 2 is an input and cannot be written"},
      {header + "2 1 0 1 3 AND\n1 1 0 3 INV\n", "line 5: wire 3 is written twice"},
      {header + "2 1 0 1 3 AND\n1 1 0 4 INV\n", "line 5: output wire 5 is never written"},
      {header + "2 1 0 1 3 NAND\n", "line 4: unknown operation 'NAND'"},
  });
  const std::string with_widths = message_of("1 3\n1 1 1\n2 1 0 1 2 AND\n", {.bundles = {1, 1}});
  EXPECT_NE(with_widths.find("header of the file has the widths of its bundles"),
            std::string::npos);
}

}  // namespace
}  // namespace tinyot
