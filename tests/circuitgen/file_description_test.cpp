// Descriptions in circuit files: what is written is read again, and what does not fit is refused.
#include "circuitgen/formats/file_description.h"

#include <sstream>

#include "circuit_texts.h"
#include "circuitgen/formats/bristol_writer.h"
#include "circuitgen/generators/registry.h"

namespace tinyot {
namespace {

const std::string kAnd = "1 3\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n";
const std::string kBegin = "#tinyot description 1\n";
const std::string kInputs = "#tinyot input x 1 B integer\n#tinyot input y 1 A integer common\n";
const std::string kOutput = "#tinyot output z 1 A integer\n";

std::string described(const Circuit& circuit) {
  std::ostringstream text;
  write_bristol_fashion(circuit, text);
  write_description(circuit.info(), text);
  return text.str();
}

void expect_same_bundles(const CircuitInfo& info, const CircuitInfo& expected) {
  ASSERT_EQ(info.inputs.size(), expected.inputs.size());
  for (std::size_t i = 0; i < info.inputs.size(); ++i) {
    const InputBundle &read = info.inputs[i], &written = expected.inputs[i];
    EXPECT_EQ(read.name, written.name);
    EXPECT_EQ(read.bits, written.bits);
    EXPECT_EQ(read.source, written.source);
    EXPECT_EQ(read.format, written.format);
    EXPECT_EQ(read.same_in_all_lanes, written.same_in_all_lanes);
    EXPECT_EQ(read.type, written.type);
  }
  ASSERT_EQ(info.outputs.size(), expected.outputs.size());
  for (std::size_t i = 0; i < info.outputs.size(); ++i) {
    const OutputBundle &read = info.outputs[i], &written = expected.outputs[i];
    EXPECT_EQ(read.name, written.name);
    EXPECT_EQ(read.bits, written.bits);
    EXPECT_EQ(read.to, written.to);
    EXPECT_EQ(read.format, written.format);
    EXPECT_EQ(read.type, written.type);
  }
}

TEST(FileDescription, KeepsNamesRolesAndFormatsOfGenerators) {
  for (const char* name : {"aes128", "sha256:bytes=0", "sha256:bytes=3", "millionaires:bits=5",
                           "hamming:bits=9", "comparisons:rows=2,columns=3,bits=4"}) {
    SCOPED_TRACE(name);
    const auto circuit = find_circuit(name);
    const auto file = parse(described(*circuit));
    EXPECT_TRUE(file->has_description());
    EXPECT_EQ(file->info().name, "test");
    expect_same_bundles(file->info(), circuit->info());
  }
}

TEST(FileDescription, KeepsEveryOwnerReceiverAndFormat) {
  CircuitInfo info{"all", {}, {}};
  for (const InputSource source : kInputSources)
    for (const ValueFormat format :
         {ValueFormat::Bytes, ValueFormat::Integer, ValueFormat::MsbInteger})
      for (const bool common : {false, true})
        info.inputs.push_back({"i" + std::to_string(info.inputs.size()), 8, source, format, common,
                               format == ValueFormat::Integer ? "i4" : ""});
  for (const Receiver to : {Receiver::A, Receiver::B, Receiver::Both, Receiver::None})
    info.outputs.push_back({"o" + std::to_string(info.outputs.size()), 8, to, ValueFormat::Integer,
                            to == Receiver::A ? "fix8.4" : ""});
  const GeneratedCircuit circuit(info, [&](Builder& builder) {
    for (std::uint32_t i = 0; i < 4; ++i) builder.output(i, builder.input(i));
  });
  expect_same_bundles(parse(described(circuit))->info(), info);
}

TEST(FileDescription, MayBeAnywhereAmongComments) {
  for (const std::string& text :
       {kBegin + kInputs + "# a comment\n" + kOutput + kAnd, kAnd + kBegin + kInputs + kOutput,
        kBegin + "1 3\n#\n2 1 1\n" + kInputs + "1 1\n# x\n\n" + kOutput + "2 1 0 1 2 AND\n#"}) {
    const auto circuit = parse(text);
    ASSERT_EQ(circuit->info().inputs.size(), 2u);
    EXPECT_EQ(circuit->info().inputs[0].name, "x");
    EXPECT_EQ(circuit->info().inputs[0].source, InputSource::B);
    EXPECT_TRUE(circuit->info().inputs[1].same_in_all_lanes);
    EXPECT_EQ(circuit->info().outputs[0].to, Receiver::A);
    EXPECT_EQ(result(*circuit, {1, 1}), 1u);
    EXPECT_EQ(result(*circuit, {1, 0}), 0u);
  }
  EXPECT_FALSE(parse("# a comment\n" + kAnd)->has_description());
}

TEST(FileDescription, OptionsReplaceItByNumber) {
  const std::string none = "#tinyot input nothing 0 A integer\n";
  const auto circuit = parse(kAnd + kBegin + none + kInputs + kOutput,
                             {.sources = {{1, InputSource::B}}, .other_receivers = Receiver::B});
  ASSERT_EQ(circuit->info().inputs.size(), 3u);
  EXPECT_EQ(circuit->info().inputs[0].source, InputSource::A);
  EXPECT_EQ(circuit->info().inputs[2].source, InputSource::B);
  EXPECT_EQ(circuit->info().outputs[0].to, Receiver::B);
  EXPECT_NE(message_of(kAnd + kBegin + none + kInputs + kOutput, {.sources = {{2, InputSource::A}}})
                .find("no input bundle 2"),
            std::string::npos);
}

TEST(FileDescription, GivesWidthsOfTruthTables) {
  const std::string gate = "2 1 0 1 2 0001\n", output = "#tinyot output z 1 both integer\n";
  const auto circuit = parse(gate + kBegin + kInputs + output);
  ASSERT_EQ(circuit->info().inputs.size(), 2u);
  EXPECT_EQ(circuit->info().inputs[1].name, "y");
  EXPECT_NE(message_of(gate + kBegin + "#tinyot input x 3 A integer\n" + output)
                .find("the circuit has 2 inputs, but the bundles have 3 bits"),
            std::string::npos);
}

TEST(FileDescription, MirrorsNumbersWhoseFirstWireIsTheHighest) {
  const std::string
      file = "1 4\n1 3\n1 3\n1 1 0 3 EQW\n",  // three wires; the outputs are wires 1, 2 and 3
      begin = kBegin + "#tinyot input x 3 A msb-integer\n";
  const auto circuit = parse(file + begin + "#tinyot output z 3 A msb-integer\n");
  const BitVector value = parse_value("6", 3, circuit->info().inputs[0].format, false);
  EXPECT_TRUE(value[0] && value[1] && !value[2]);
  EXPECT_EQ(print_value(value, ValueFormat::MsbInteger, false), "0x6");
  EXPECT_EQ(print_value(value, ValueFormat::MsbInteger, true), "0x3");
  EXPECT_EQ(print_value(value, ValueFormat::MsbInteger, false, NumberBase::Decimal), "6");
}

TEST(FileDescription, RefusesWhatDoesNotFitNamingTheLine) {
  expect_refused({
      {kAnd + kInputs, "begins with '#tinyot description 1'"},
      {kAnd + kBegin + kBegin, "begins with '#tinyot description 1'"},
      {kAnd + "#tinyot\n", "begins with '#tinyot description 1'"},
      {kAnd + "#tinyot description 2\n", "version 1 alone"},
      {kAnd + kBegin + "#tinyot wire x 1 A integer\n", "not 'wire'"},
      {kAnd + kBegin + "#tinyot input x 1 A\n", "its name, its width, its source"},
      {kAnd + kBegin + "#tinyot input x 1 A integer often\n", "there is no type 'often'"},
      {kAnd + kBegin + "#tinyot output x 1 A integer common\n", "there is no type 'common'"},
      {kAnd + kBegin + "#tinyot output x 1 A\n", "its receivers"},
      {kAnd + kBegin + "#tinyot input x 1 C integer\n",
       "'C' is no source of an input: A, B, shared, public"},
      {kAnd + kBegin + "#tinyot input x 1 both integer\n", "'both' is no source of an input"},
      {kAnd + kBegin + "#tinyot output x 1 all integer\n", "no receiver: A, B, both, none"},
      {kAnd + kBegin + "#tinyot input x 1 A text\n", "no format: bytes, integer, msb-integer"},
      {kAnd + kBegin + "#tinyot input x 1 A integer i1 i1\n",
       "'i1' is no reading and no condition"},
      {kAnd + kBegin + "#tinyot input x 1 A integer common j1\n", "there is no type 'j1'"},
      {kAnd + kBegin + "#tinyot output x 9 A integer i2\n",
       "9 bits are no whole number of values of type i2"},
      {kAnd + kBegin + "#tinyot input x 8 A msb-integer i8\n",
       "type i8 is not for the format msb-integer"},
      {kAnd + kBegin + "#tinyot input x -1 A integer\n", "'-1' is not a width"},
      {kAnd + kBegin + "#tinyot input x 4294967296 A integer\n", "is not a width"},
      {kAnd + kBegin + "#tinyot input x 4 A bytes\n", "a multiple of 8"},
      {kAnd + kBegin + kInputs + kInputs, "'x' is described twice"},
      // NOLINTNEXTLINE(bugprone-string-constructor): it has to be long
      {kAnd + kBegin + "#tinyot input " + std::string(17'000'000, 'x') + "\n", "too long"},
  });
  for (const std::string& bundles :
       {kInputs, kOutput, kInputs + kInputs + kOutput, kInputs + "#tinyot output z 2 A integer\n",
        "#tinyot input x 2 A integer\n" + kOutput}) {
    const std::string message = message_of(kAnd + kBegin + bundles);
    EXPECT_NE(message, "accepted") << bundles;
  }
  EXPECT_NE(message_of(kAnd + kBegin + "#tinyot input x 2 A integer\n" + kOutput)
                .find("test.txt: its description has input bundles of 2 bits, but the circuit has "
                      "1 1"),
            std::string::npos);
}

TEST(FileDescription, CannotHaveNamesWithBlanks) {
  for (const char* name : {"", "two words", "tab\t", "\xc3\xa4"}) {
    std::ostringstream text;
    EXPECT_THROW(write_description(
                     {"c", {{name, 1, InputSource::A, ValueFormat::Integer, false}}, {}}, text),
                 UsageError)
        << name;
  }
}

}  // namespace
}  // namespace tinyot
