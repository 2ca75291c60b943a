#include "tinyot/circuit/builder.h"

#include <gtest/gtest.h>

#include "circuits.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

std::vector<GateKind> kinds(const RecordingSink& sink) {
  std::vector<GateKind> result;
  for (const Gate& gate : sink.gates) result.push_back(gate.kind);
  return result;
}

TEST(Builder, FoldsConstants) {
  RecordingSink sink;
  const CircuitInfo info = test_info({1}, {1});
  Builder builder(sink, info);
  const Bit x = builder.input_bit(0, 0), zero(false), one(true);
  const std::size_t before = sink.gates.size();

  EXPECT_TRUE((x ^ x).is_constant());
  EXPECT_FALSE((x ^ x).constant());
  EXPECT_FALSE((x & zero).constant());
  EXPECT_FALSE((zero & x).constant());
  EXPECT_TRUE((x | one).constant());
  EXPECT_TRUE((one | x).constant());
  EXPECT_TRUE((~zero).constant());
  EXPECT_TRUE((one ^ zero).constant());
  EXPECT_FALSE((x ^ zero).is_constant());
  EXPECT_FALSE((x & one).is_constant());
  EXPECT_FALSE((x & x).is_constant());
  EXPECT_FALSE((zero | x).is_constant());
  EXPECT_FALSE((x | x).is_constant());
  EXPECT_THROW(x.constant(), std::logic_error);
  EXPECT_EQ(sink.gates.size(), before);

  const Bit not_x = x ^ one;
  EXPECT_EQ(sink.gates.back().kind, GateKind::Not);
}

TEST(Builder, FreesWireWithItsLastHandle) {
  RecordingSink sink;
  const CircuitInfo info = test_info({2}, {1});
  Builder builder(sink, info);
  Bit x = builder.input_bit(0, 0);
  const Bit y = builder.input_bit(0, 1);
  Bit copy = x;
  x = x ^ y;
  x = ~x;        // frees x ^ y
  copy = Bit();  // frees input 0
  builder.output_bit(0, 0, x);
  EXPECT_EQ(kinds(sink),
            (std::vector{GateKind::Input, GateKind::Input, GateKind::Xor, GateKind::Not,
                         GateKind::Free, GateKind::Free, GateKind::Output}));
  EXPECT_EQ(sink.gates[4].in0 + sink.gates[5].in0, 2u);  // wires 0 and 2, in either order
}

TEST(Builder, HandlesSurviveMovesAndSelfAssignment) {
  RecordingSink sink;
  const CircuitInfo info = test_info({1}, {1});
  Builder builder(sink, info);
  Bit x = builder.input_bit(0, 0);
  Bit& alias = x;
  x = alias;
  x = std::move(alias);
  const Bit target = std::move(x);
  builder.output_bit(0, 0, target);
  EXPECT_EQ(sink.count(GateKind::Free), 0u);
}

TEST(Builder, WritesConstantsOnlyAsOutputs) {
  RecordingSink sink;
  const CircuitInfo info = test_info({}, {2});
  Builder builder(sink, info);
  builder.output(0, std::vector{Bit(true), Bit(false)});
  const TestCircuit circuit(info, sink.gates);
  const std::vector<LaneValues> outputs = evaluate(circuit, 1, std::vector<LaneValues>());
  EXPECT_TRUE(outputs[0][0][0]);
  EXPECT_FALSE(outputs[0][0][1]);
}

TEST(Builder, RejectsWrongBundles) {
  RecordingSink sink;
  const CircuitInfo info = test_info({1}, {1});
  Builder builder(sink, info);
  EXPECT_THROW(builder.input(1), UsageError);
  EXPECT_THROW(builder.input_bit(0, 1), UsageError);
  EXPECT_THROW(builder.output(1, {}), UsageError);
  EXPECT_THROW(builder.output(0, {}), UsageError);
  EXPECT_THROW(builder.input_bits(0, 1, 1), UsageError);
  EXPECT_THROW(builder.input_bits(0, 2, 0), UsageError);
  EXPECT_THROW(builder.output_bits(0, 1, std::vector{Bit(true)}), UsageError);
}

TEST(Builder, ReadsAndWritesPartsOfBundles) {
  const CircuitInfo info = test_info({8}, {8});
  const TestCircuit circuit(info, [&info](GateSink& sink) {
    Builder builder(sink, info);
    builder.output_bits(0, 4, builder.input_bits(0, 0, 4));
    builder.output_bits(0, 0, builder.input_bits(0, 4, 4));
  });
  LaneValues inputs(1, BitVector(8));
  inputs[0].words()[0] = 0xa3;
  EXPECT_EQ(evaluate(circuit, 1, {inputs})[0][0].words()[0], 0x3au);
}

}  // namespace
}  // namespace tinyot
