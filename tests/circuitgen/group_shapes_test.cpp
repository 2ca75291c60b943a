// The polynomials of groups, and what circuits with groups cost.
#include <gtest/gtest.h>

#include <bit>

#include "circuitgen/cost.h"
#include "circuitgen/generators/aes_sbox.h"
#include "circuitgen/group.h"
#include "circuits.h"
#include "tests/support/layers.h"
#include "tests/support/refusal.h"
#include "tests/support/repetitions.h"
#include "tinyot/circuit/builder.h"
#include "tinyot/circuit/integer.h"

namespace tinyot {
namespace {

using enum GateKind;

bool value_of(const GroupShape::Result& result, GroupPart inputs) {
  bool value =
      result.constant != (std::popcount(static_cast<GroupPart>(result.linear & inputs)) % 2 != 0);
  for (const GroupPart monomial : result.monomials)
    if ((monomial & inputs) == monomial) value = !value;
  return value;
}

// Parts are all sets within a monomial, ordered; the factors of a product are parts before it.
void expect_parts(const GroupShape& shape) {
  std::vector<bool> wanted(256, false);
  for (const GroupShape::Result& result : shape.results)
    for (const GroupPart monomial : result.monomials) {
      EXPECT_GT(std::popcount(monomial), 1);
      for (unsigned part = 1; part < 256; ++part)
        if ((part & monomial) == part) wanted[part] = true;
    }
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(wanted, true)), shape.parts.size());
  for (std::size_t i = 0; i < shape.parts.size(); ++i) {
    const GroupPart part = shape.parts[i];
    EXPECT_TRUE(wanted[part]);
    EXPECT_EQ(shape.number_of(part), i);
    EXPECT_EQ(i < shape.single_parts, std::popcount(part) == 1);
    if (i > 0) {
      const GroupPart before = shape.parts[i - 1];
      EXPECT_LT(std::pair(std::popcount(before), before), std::pair(std::popcount(part), part));
    }
    if (i < shape.single_parts) continue;
    const auto [lower, upper] = factors_of(part);
    EXPECT_EQ(std::popcount(lower), std::popcount(part) / 2);
    EXPECT_EQ(lower | upper, part);
    EXPECT_EQ(lower & upper, 0);
    EXPECT_LT(std::bit_width(lower), std::countr_zero(upper) + 1);
    EXPECT_LT(shape.number_of(lower), i);
    EXPECT_LT(shape.number_of(upper), i);
  }
}

const auto kNoConstants = [](WireId) { return std::optional<bool>(); };

TEST(GroupShapes, AreThoseOfAllGroupsOfFourInputsAndThreeGates) {
  GroupMaker maker;
  std::size_t groups = 0;
  std::vector<Gate> gates;
  const auto expect_group = [&] {
    maker.begin();
    std::vector<WireId> inputs;
    for (const Gate& gate : gates)
      maker.gate(gate, [&](WireId wire) {
        inputs.push_back(wire);
        return std::optional<bool>();
      });
    const GroupMaker::Group group = maker.end();
    ASSERT_EQ(group.shape->inputs, inputs.size());
    ASSERT_EQ(group.results.size(), gates.size());
    for (unsigned x = 0; x < 16; ++x) {
      unsigned wires = x;
      for (const Gate& gate : gates) {
        const unsigned in0 = wires >> gate.in0 & 1, in1 = wires >> gate.in1 & 1;
        wires |= (gate.kind == And   ? in0 & in1
                  : gate.kind == Xor ? in0 ^ in1
                                     : in0 ^ 1u)
                 << gate.out;
      }
      unsigned given = 0;
      for (std::size_t i = 0; i < inputs.size(); ++i) given |= (x >> inputs[i] & 1) << i;
      for (std::size_t k = 0; k < gates.size(); ++k) {
        ASSERT_EQ(group.results[k].wire, gates[k].out);
        ASSERT_EQ(value_of(group.shape->results[k], static_cast<GroupPart>(given)),
                  (wires >> gates[k].out & 1) != 0);
      }
    }
    if (groups++ % 16 == 0) expect_parts(*group.shape);
  };
  const std::function<void()> extend = [&] {
    if (gates.size() == 3) return expect_group();
    const WireId wires = 4 + gates.size();
    for (const GateKind kind : {Xor, And, Not})
      for (WireId x = 0; x < wires; ++x)
        for (WireId y = x; y < (kind == Not ? x + 1 : wires); ++y) {
          gates.push_back({kind, wires, x, kind == Not ? 0 : y});
          extend();
          gates.pop_back();
        }
  };
  extend();
  EXPECT_EQ(groups, 24u * 35 * 48);
}

TEST(GroupShapes, AreSharedByGroupsOfOneShape) {
  GroupMaker maker;
  const auto shape_of = [&](WireId x, GateKind kind) {
    maker.begin();
    maker.gate({kind, 9, x, x + 1}, kNoConstants);
    return maker.end().shape;
  };
  EXPECT_EQ(shape_of(0, And), shape_of(4, And));
  EXPECT_NE(shape_of(0, And), shape_of(0, Xor));
}

// As the specification of masked runs has them.
TEST(GroupShapes, OfTheInverseInGf16) {
  struct Sink final : GateSink {
    void emit(const Gate& gate) override {
      if (gate.kind == GroupBegin)
        maker.begin();
      else if (gate.kind == GroupEnd)
        group = maker.end();
      else if (maker.is_open() && gate.kind == Free)
        maker.free(gate.in0);
      else if (maker.is_open())
        maker.gate(gate, kNoConstants);
    }
    GroupMaker maker;
    GroupMaker::Group group;
  } sink;
  const CircuitInfo info = test_info({8}, {8});
  Builder builder(sink, info);
  builder.output(0, aes_sbox(ByteWord(builder.input(0)), AesSbox::Gf16));
  const GroupShape& shape = *sink.group.shape;
  ASSERT_EQ(shape.results.size(), 4u);
  // t21 is bit 0.
  const std::vector<GroupPart> parts = {1, 2, 4, 8, 3, 5, 6, 9, 10, 12, 7, 11, 13, 14};
  EXPECT_EQ(shape.parts, parts);
  const std::vector<std::pair<GroupPart, std::vector<GroupPart>>> wanted = {
      {0b0010, {0b0101, 0b0111, 0b1001, 0b1010}},  // t29
      {0b1000, {0b0101, 0b0110, 0b1010, 0b1101}},  // t33
      {0b1100, {0b0101, 0b0110, 0b1110}},          // t37
      {0b0011, {0b0101, 0b1001, 0b1011}}};         // t40
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_FALSE(shape.results[i].constant);
    EXPECT_EQ(shape.results[i].linear, wanted[i].first) << i;
    EXPECT_EQ(shape.results[i].monomials, wanted[i].second) << i;
  }
}

// The wire of an output of the circuit is a result also if it is freed, and its number may be used
// again, inside and outside; so may that of an input of the group.
TEST(GroupShapes, KnowWiresFromTheirNumbers) {
  GroupMaker maker;
  maker.begin();
  maker.gate({And, 9, 0, 1}, kNoConstants);
  EXPECT_FALSE(maker.output({Output, 0, 0, 0})) << "an input";
  EXPECT_TRUE(maker.output({Output, 3, 9, 7}));
  EXPECT_TRUE(maker.free(9));
  EXPECT_FALSE(maker.free(0));
  EXPECT_FALSE(maker.free(5)) << "unknown";
  maker.gate({Xor, 0, 1, 2}, kNoConstants);
  maker.gate({Not, 9, 0, 0}, kNoConstants);
  maker.gate({And, 4, 9, 9},
             [](WireId) -> std::optional<bool> { throw std::logic_error("known"); });
  EXPECT_TRUE(maker.free(9));
  maker.gate({And, 5, 4, 9}, [](WireId) { return std::optional(true); });
  const GroupMaker::Group group = maker.end();
  EXPECT_EQ(group.shape->inputs, 3u);
  ASSERT_EQ(group.results.size(), 4u);
  EXPECT_FALSE(group.results[0].wire);
  ASSERT_EQ(group.results[0].outputs.size(), 1u);
  EXPECT_EQ(group.results[0].outputs[0].out, 3u);
  EXPECT_EQ(group.results[1].wire, 0u);
  EXPECT_EQ(group.results[2].wire, 4u);
  EXPECT_EQ(group.results[3].wire, 5u);
  EXPECT_EQ(group.shape->results[0].monomials, std::vector<GroupPart>{0b011});
  for (const std::size_t k : {2, 3}) {  // ~(1 ^ 2), and the same AND 1
    EXPECT_TRUE(group.shape->results[k].constant);
    EXPECT_EQ(group.shape->results[k].linear, 0b110);
  }
}

TEST(GroupShapes, AreRefusedBeyondTheLimitsOfAGroup) {
  const auto refusal = [](const std::function<void(Builder&, const Bits&)>& work) {
    RecordingSink sink;
    const CircuitInfo info = test_info({20}, {1});
    Builder builder(sink, info);
    const Bits x = builder.input(0);
    return test::refusal([&] { work(builder, x); });
  };
  const char* const kNothing = "nothing is refused";
  const auto sum = [](Builder& builder, const Bits& x, std::size_t inputs) {
    builder.group([&] {
      Bit all = x[0];
      for (std::size_t i = 1; i < inputs; ++i) all ^= x[i];
      return all;
    });
  };
  EXPECT_EQ(refusal([&](Builder& b, const Bits& x) { sum(b, x, 8); }), kNothing);
  EXPECT_EQ(refusal([&](Builder& b, const Bits& x) { sum(b, x, 9); }),
            "a group of gates has more than 8 inputs");
  const auto ands = [](Builder& builder, const Bits& x, std::size_t count, std::size_t results) {
    builder.group([&] {
      Bits made;
      for (std::size_t i = 0; i < count; ++i) {
        Bit product = x[i % 4] & x[4 + i / 4 % 4];
        if (i < results) made.push_back(product);
      }
      return made;
    });
  };
  EXPECT_EQ(refusal([&](Builder& b, const Bits& x) { ands(b, x, 64, 8); }), kNothing);
  EXPECT_EQ(refusal([&](Builder& b, const Bits& x) { ands(b, x, 65, 8); }),
            "a group of gates has more than 64 ANDs");
  EXPECT_EQ(refusal([&](Builder& b, const Bits& x) { ands(b, x, 64, 9); }),
            "a group of gates has more than 8 results");
  EXPECT_EQ(refusal([&](Builder& b, const Bits& x) {
              b.group([&] { return b.group([&] { return x[0] & x[1]; }); });
            }),
            "a group of gates is begun in another one");
}

// The number of a wire that is freed inside says nothing outside.
TEST(GroupShapes, InnerWiresAreNotReadOutside) {
  const TestCircuit circuit(test_info({2}, {1}), {{Input, 0, 0, 0},
                                                  {Input, 1, 0, 1},
                                                  {GroupBegin, 0, 0, 0},
                                                  {And, 2, 0, 1},
                                                  {Not, 3, 2, 0},
                                                  {Free, 0, 2, 0},
                                                  {GroupEnd, 0, 0, 0},
                                                  {Xor, 4, 2, 3},
                                                  {Output, 0, 4, 0}});
  EXPECT_THROW(cost_of(circuit), std::logic_error);
  EXPECT_THROW(encoding_of(circuit), std::logic_error);
}

CircuitCost cost_of_all(std::uint32_t bits, std::size_t arity) {
  const CircuitInfo info = test_info({bits}, {1});
  const TestCircuit circuit(info, [&info, arity](GateSink& sink) {
    Builder builder(sink, info);
    builder.output_bit(0, 0, all(builder.input(0), arity));
  });
  std::mt19937_64 rng(bits);
  LaneValues values;
  for (std::size_t lane = 0; lane < 2 * bits; ++lane) {
    BitVector value(bits);
    for (std::size_t i = 0; i < bits; ++i) value.put(i, i != lane);
    values.push_back(std::move(value));
  }
  const std::vector<LaneValues> outputs = evaluate(circuit, values.size(), {values});
  for (std::size_t lane = 0; lane < values.size(); ++lane)
    EXPECT_EQ(outputs[0][lane][0], lane >= bits) << lane;
  return cost_of(circuit);
}

TEST(GroupCost, OfTheAndOfManyBits) {
  for (std::size_t arity = 2; arity <= 8; ++arity)
    for (const std::uint32_t bits : {1, 2, 3, 4, 5, 9, 17, 64}) {
      const CircuitCost cost = cost_of_all(bits, arity);
      EXPECT_EQ(cost.ands, bits - 1u);
      if (arity == 2) {
        EXPECT_EQ(cost.groups, 0u);
        EXPECT_EQ(cost.products, cost.ands);
        EXPECT_EQ(cost.group_parts, 0u);
        EXPECT_EQ(cost.product_depth, cost.and_depth);
      }
      if (bits == arity) {
        EXPECT_EQ(cost.products, (1u << bits) - bits - 1);
        EXPECT_EQ(cost.group_parts, arity == 2 ? 0 : (1u << bits) - 1);
        EXPECT_EQ(cost.product_depth, 1u);
      }
    }
  const CircuitCost of_a_tag = cost_of_all(128, 4);
  EXPECT_EQ(of_a_tag.products, 463u);
  EXPECT_EQ(of_a_tag.product_depth, 4u);
  EXPECT_EQ(of_a_tag.and_depth, 7u);
  EXPECT_EQ(test::refusal([] { all(Bits(3), 1); }), "an AND has 2 to 8 inputs, not 1");
  EXPECT_EQ(test::refusal([] { all(Bits(3), 9); }), "an AND has 2 to 8 inputs, not 9");
}

// All lanes of a group's results are the same only if those of all inputs are, whatever a result
// depends on; a constant is no input.
TEST(GroupCost, CountsWhatIsTheSameInAllLanes) {
  CircuitInfo info = test_info({2, 1}, {3});
  info.inputs[0].same_in_all_lanes = true;
  const TestCircuit circuit(info, {{Input, 0, 0, 0},
                                   {Input, 1, 0, 1},
                                   {Input, 2, 1, 0},
                                   {Const, 3, 1, 0},
                                   {GroupBegin, 0, 0, 0},
                                   {And, 4, 0, 1},
                                   {And, 5, 4, 3},
                                   {GroupEnd, 0, 0, 0},
                                   {GroupBegin, 0, 0, 0},
                                   {And, 6, 0, 1},
                                   {Not, 7, 2, 0},
                                   {GroupEnd, 0, 0, 0},
                                   {And, 8, 4, 5},
                                   {And, 9, 4, 6},
                                   {Output, 0, 7, 0},
                                   {Output, 0, 8, 1},
                                   {Output, 0, 9, 2}});
  const CircuitCost cost = cost_of(circuit);
  EXPECT_EQ(cost.ands, 5u);
  EXPECT_EQ(cost.invariant_ands, 5u);
  EXPECT_EQ(cost.and_depth, 3u);
  EXPECT_EQ(cost.groups, 2u);
  EXPECT_EQ(cost.products, 4u);
  EXPECT_EQ(cost.invariant_products, 2u);
  EXPECT_EQ(cost.products_of(10), 22u);
  EXPECT_EQ(cost.product_depth, 2u);
}

// Brackets change neither what a circuit computes nor what its gates cost.
TEST(GroupCost, OfRandomCircuits) {
  std::mt19937_64 rng(12);
  std::uint64_t groups = 0;
  for (std::uint64_t i = 0; i < test::repetitions(500); ++i) {
    const TestCircuit plain = random_circuit(rng, 20 + rng() % 200, 4);
    const TestCircuit grouped = grouped_circuit(plain, rng);
    const CircuitCost before = cost_of(plain), after = cost_of(grouped);
    EXPECT_EQ(before.ands, after.ands);
    EXPECT_EQ(before.xors, after.xors);
    EXPECT_EQ(before.invariant_ands, after.invariant_ands);
    EXPECT_EQ(before.invariant_xors, after.invariant_xors);
    EXPECT_EQ(before.and_depth, after.and_depth);
    EXPECT_EQ(before.groups, 0u);
    EXPECT_EQ(before.products, before.ands);
    EXPECT_EQ(before.invariant_products, before.invariant_ands);
    EXPECT_EQ(before.product_depth, before.and_depth);
    const auto inputs = random_inputs(plain.info(), 5, rng);
    const auto one = evaluate(plain, 5, inputs), two = evaluate(grouped, 5, inputs);
    for (std::size_t bundle = 0; bundle < one.size(); ++bundle)
      for (std::size_t lane = 0; lane < 5; ++lane)
        EXPECT_TRUE(std::ranges::equal(one[bundle][lane].words(), two[bundle][lane].words()));
    CollectedBytes ignored;
    const CircuitCost canonical = circuit::encode_gates(grouped, ignored).cost;
    EXPECT_EQ(canonical.groups, after.groups);
    EXPECT_EQ(canonical.products, after.products);
    EXPECT_EQ(canonical.invariant_products, after.invariant_products);
    EXPECT_EQ(canonical.product_depth, after.product_depth);
    groups += after.groups;
    ASSERT_FALSE(HasFailure()) << i;
  }
  EXPECT_GT(groups, 100u);
}

}  // namespace
}  // namespace tinyot
