#include <gtest/gtest.h>

#include "base/error.h"
#include "circuitgen/cost.h"
#include "circuits.h"
#include "tests/support/lane_values.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

// o0 = (a & b) ^ 1, o1 = ~a, with a and b from different bundles.
std::vector<Gate> small_stream() {
  return {{GateKind::Input, 0, 0, 0},  {GateKind::Input, 1, 1, 0}, {GateKind::Const, 2, 1, 0},
          {GateKind::And, 3, 0, 1},    {GateKind::Free, 0, 1, 0},  {GateKind::Xor, 4, 3, 2},
          {GateKind::Output, 0, 4, 0}, {GateKind::Not, 5, 0, 0},   {GateKind::Output, 0, 5, 1}};
}

std::string refusal_of(const Circuit& circuit, std::size_t lanes,
                       const std::vector<LaneValues>& inputs) {
  try {
    evaluate(circuit, lanes, inputs);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Evaluate, AllGateKindsInManyLanes) {
  CircuitInfo info = test_info({1, 1}, {2});
  info.inputs[1].same_in_all_lanes = true;
  const TestCircuit circuit(info, small_stream());
  std::mt19937_64 rng(3);
  for (const std::size_t lanes : {1, 2, 63, 64, 65, 130}) {
    const std::vector<LaneValues> inputs = random_inputs(info, lanes, rng);
    const std::vector<LaneValues> outputs = evaluate(circuit, lanes, inputs);
    ASSERT_EQ(outputs.size(), 1u);
    ASSERT_EQ(outputs[0].size(), lanes);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const bool a = inputs[0][lane][0], b = inputs[1][0][0];
      EXPECT_EQ(outputs[0][lane][0], !(a && b));
      EXPECT_EQ(outputs[0][lane][1], !a);
    }
  }
}

TEST(Evaluate, NamesTheBundleOfAWrongShape) {
  CircuitInfo info = test_info({1, 1}, {2});
  info.inputs[1].name = "shared";
  info.inputs[1].same_in_all_lanes = true;
  const TestCircuit circuit(info, small_stream());
  const BitVector one(1), two(2);
  EXPECT_EQ(refusal_of(circuit, 2, {{one, one}, {one}}), "");
  EXPECT_NE(refusal_of(circuit, 0, {{}, {one}}).find("lanes"), std::string::npos);
  EXPECT_NE(refusal_of(circuit, 1, {{one}}).find("2 input bundles"), std::string::npos);
  EXPECT_NE(refusal_of(circuit, 2, {{one}, {one}}).find("input 0 needs 2 values"),
            std::string::npos);
  EXPECT_NE(refusal_of(circuit, 2, {{one, one}, {one, one}}).find("input shared needs 1 value"),
            std::string::npos);
  EXPECT_NE(
      refusal_of(circuit, 2, {{two, two}, {one}}).find("input 0 has 1 bits, but its values have 2"),
      std::string::npos);
}

TEST(Evaluate, RejectsMalformedStreams) {
  const CircuitInfo info = test_info({1}, {1});
  const std::vector<LaneValues> inputs = {{BitVector(1)}};
  const std::vector<std::vector<Gate>> streams = {
      // a missing output
      {},
      // read before written
      {{GateKind::Output, 0, 0, 0}},
      // read after freed
      {{GateKind::Input, 0, 0, 0}, {GateKind::Free, 0, 0, 0}, {GateKind::Output, 0, 0, 0}},
      // an output twice
      {{GateKind::Input, 0, 0, 0}, {GateKind::Output, 0, 0, 0}, {GateKind::Output, 0, 0, 0}},
      // no such output bit
      {{GateKind::Input, 0, 0, 0}, {GateKind::Output, 0, 0, 1}},
      // no such input bit
      {{GateKind::Input, 0, 0, 1}, {GateKind::Output, 0, 0, 0}},
      // a wire written twice
      {{GateKind::Input, 1, 0, 0}, {GateKind::Not, 1, 1, 0}, {GateKind::Output, 0, 1, 0}},
  };
  for (const std::vector<Gate>& stream : streams) {
    EXPECT_THROW(evaluate(TestCircuit(info, stream), 1, inputs), std::logic_error);
  }
}

TEST(Cost, CountsGatesDepthAndBits) {
  CircuitInfo info = test_info({1, 1}, {2});
  info.inputs[1].source = InputSource::B;
  const CircuitCost cost = cost_of(TestCircuit(info, small_stream()));
  EXPECT_EQ(cost.ands, 1u);
  EXPECT_EQ(cost.xors, 1u);
  EXPECT_EQ(cost.nots, 1u);
  EXPECT_EQ(cost.and_depth, 1u);
  EXPECT_EQ(cost.input_bits_of(Party::A), 1u);
  EXPECT_EQ(cost.input_bits_of(Party::B), 1u);
  EXPECT_EQ(cost.output_bits, 2u);
}

}  // namespace
}  // namespace tinyot
