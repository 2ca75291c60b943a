#include "circuitgen/layering.h"

#include <gtest/gtest.h>

#include <set>

#include "circuitgen/cost.h"
#include "circuitgen/generators/registry.h"
#include "circuits.h"
#include "tests/support/layers.h"
#include "tests/support/repetitions.h"
#include "tinyot/circuit/builder.h"

namespace tinyot {
namespace {

// Evaluates rounds over slots, up to 64 lanes in a word, and checks the guarantees of the header.
class SlotInterpreter final : public RoundSink {
 public:
  SlotInterpreter(const CircuitInfo& info, std::size_t lanes, const std::vector<LaneValues>& inputs)
      : info_(info), lanes_(lanes), inputs_(inputs) {
    for (const OutputBundle& bundle : info.outputs)
      outputs.emplace_back(lanes, BitVector(bundle.bits));
  }

  void round(Round& round) override {
    ++rounds;
    const bool has_ands = !(round.invariant_ands.empty() && round.invariant_groups.empty() &&
                            round.ands.empty() && round.groups.empty());
    rounds_without_ands += !has_ands;
    products += round.and_count(lanes_);
    groups += round.invariant_groups.size() + round.groups.size();
    EXPECT_FALSE(round.inputs.empty() && round.invariant_local.empty() && round.local.empty() &&
                 round.outputs.empty() && !has_ands);
    EXPECT_GE(round.slots, slots_.size());
    EXPECT_GE(round.invariant_slots, invariant_.size());
    slots_.resize(round.slots, 0);
    invariant_.resize(round.invariant_slots, 0);
    for (const RoundInput& input : round.inputs) {
      EXPECT_EQ(is_invariant(input.out),
                lanes_ > 1 && info_.inputs[input.bundle].same_in_all_lanes);
      at(input.out) = input_word(input.bundle, input.bit);
    }
    for (const LocalGate& gate : round.invariant_local) carry_out(gate, true);
    for (const LocalGate& gate : round.local) carry_out(gate, false);
    for (const RoundOutput& output : round.outputs) {
      for (std::size_t lane = 0; lane < lanes_; ++lane) {
        outputs[output.bundle][lane].put(output.bit, ((at(output.in) >> lane) & 1) != 0);
      }
    }
    carry_out(round.invariant_ands, round.invariant_groups, true);
    carry_out(round.ands, round.groups, false);
  }

  std::size_t slots() const { return slots_.size(); }

  std::vector<LaneValues> outputs;
  std::size_t rounds = 0;
  std::size_t rounds_without_ands = 0;  // or groups
  std::size_t products = 0, groups = 0;

 private:
  std::uint64_t input_word(std::uint32_t bundle, std::uint32_t bit) const {
    std::uint64_t word = 0;
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
      word |= std::uint64_t{inputs_[bundle][info_.inputs[bundle].same_in_all_lanes ? 0 : lane][bit]}
              << lane;
    }
    return word;
  }

  const CircuitInfo& info_;
  const std::size_t lanes_;
  const std::vector<LaneValues>& inputs_;
  std::uint64_t& at(Slot slot) {
    return is_invariant(slot) ? invariant_.at(index_of(slot)) : slots_.at(slot);
  }

  // A gate is invariant if and only if its operands are; with one lane no gate is.
  void expect_place(Slot out, Slot in0, Slot in1, bool invariant) const {
    EXPECT_EQ(is_invariant(out), invariant);
    EXPECT_EQ(is_invariant(in0) && is_invariant(in1), invariant);
    EXPECT_TRUE(lanes_ > 1 || !invariant);
  }

  void carry_out(const LocalGate& gate, bool invariant) {
    switch (gate.kind) {
      case GateKind::Const:
        EXPECT_EQ(is_invariant(gate.out), lanes_ > 1);
        at(gate.out) = std::uint64_t{0} - gate.in0;
        break;
      case GateKind::Xor:
        expect_place(gate.out, gate.in0, gate.in1, invariant);
        at(gate.out) = at(gate.in0) ^ at(gate.in1);
        break;
      case GateKind::Not:
        expect_place(gate.out, gate.in0, gate.in0, invariant);
        at(gate.out) = ~at(gate.in0);
        break;
      default:
        ADD_FAILURE() << "not a local gate";
    }
  }

  void carry_out(const std::vector<RoundAnd>& ands, const std::vector<RoundGroup>& grouped,
                 bool invariant) {
    std::set<Slot> ins, outs;
    for (const RoundAnd& gate : ands) ins.insert({gate.in0, gate.in1});
    for (const RoundGroup& group : grouped)
      ins.insert(group.inputs.begin(), group.inputs.begin() + group.shape->inputs);
    const auto put = [&](Slot out, std::uint64_t value) {
      EXPECT_TRUE(outs.insert(out).second);
      EXPECT_FALSE(ins.contains(out));
      at(out) = value;
    };
    for (const RoundAnd& gate : ands) {
      expect_place(gate.out, gate.in0, gate.in1, invariant);
      put(gate.out, at(gate.in0) & at(gate.in1));
    }
    for (const RoundGroup& group : grouped) carry_out(group, invariant, put);
  }

  template <class Put>
  void carry_out(const RoundGroup& group, bool invariant, Put put) {
    const std::span<const Slot> inputs = std::span(group.inputs).first(group.shape->inputs);
    EXPECT_EQ(lanes_ > 1 && std::ranges::all_of(inputs, is_invariant), invariant);
    const auto product = [&](GroupPart of) {
      std::uint64_t value = ~0ull;
      for (std::size_t i = 0; i < inputs.size(); ++i)
        if ((of >> i & 1) != 0) value &= at(inputs[i]);
      return value;
    };
    for (std::size_t k = 0; k < group.shape->results.size(); ++k) {
      const GroupShape::Result& result = group.shape->results[k];
      std::uint64_t value = result.constant ? ~0ull : 0;
      for (std::size_t i = 0; i < inputs.size(); ++i)
        if ((result.linear >> i & 1) != 0) value ^= at(inputs[i]);
      for (const GroupPart monomial : result.monomials) value ^= product(monomial);
      EXPECT_EQ(is_invariant(group.results[k]), invariant);
      put(group.results[k], value);
    }
  }

  std::vector<std::uint64_t> slots_, invariant_;
};

struct CountingSink final : RoundSink {
  void round(Round& round) override {
    ++rounds;
    ands += round.and_count(1);
    invariant_ands += round.invariant_ands.size();
    local += round.invariant_local.size() + round.local.size();
    slots = round.slots;
    largest = std::max(largest, round.gates());
  }
  std::size_t rounds = 0, ands = 0, invariant_ands = 0, local = 0, slots = 0, largest = 0;
};

void expect_equal(const std::vector<LaneValues>& x, const std::vector<LaneValues>& y) {
  ASSERT_EQ(x.size(), y.size());
  for (std::size_t b = 0; b < x.size(); ++b) {
    ASSERT_EQ(x[b].size(), y[b].size());
    for (std::size_t lane = 0; lane < x[b].size(); ++lane) {
      ASSERT_TRUE(std::ranges::equal(x[b][lane].words(), y[b][lane].words()))
          << "bundle " << b << ", lane " << lane;
    }
  }
}

constexpr std::size_t kWide = std::size_t{1} << 24;

TEST(Layering, RandomCircuitsMatchTheEvaluatorInEveryWindow) {
  std::mt19937_64 rng(4);
  for (std::uint64_t i = 0; i < test::repetitions(2000); ++i) {
    const std::uint64_t gap = std::vector<std::uint64_t>{1, 4, 1000}[rng() % 3];
    const TestCircuit circuit = random_circuit(rng, 20 + rng() % 400, gap);
    const std::size_t lanes = 1 + rng() % 64;
    const std::vector<LaneValues> inputs = random_inputs(circuit.info(), lanes, rng);
    const std::vector<LaneValues> expected = evaluate(circuit, lanes, inputs);
    const std::uint64_t depth = cost_of(circuit).and_depth;
    for (const std::size_t window :
         {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{7}, std::size_t{50}, kWide}) {
      SlotInterpreter interpreter(circuit.info(), lanes, inputs);
      generate_rounds(circuit, lanes, window, interpreter);
      ASSERT_NO_FATAL_FAILURE(expect_equal(interpreter.outputs, expected))
          << "circuit " << i << ", window " << window;
      if (window == kWide) {
        EXPECT_EQ(interpreter.rounds - interpreter.rounds_without_ands, depth);
        EXPECT_LE(interpreter.rounds_without_ands, 1u);
      }
    }
  }
}

// In every window a group is one gate.
TEST(Layering, RandomGroupsMatchTheEvaluatorInEveryWindow) {
  std::mt19937_64 rng(14);
  std::size_t groups = 0;
  for (std::uint64_t i = 0; i < test::repetitions(2000); ++i) {
    const TestCircuit circuit = grouped_circuit(random_circuit(rng, 20 + rng() % 400, 4), rng);
    const std::size_t lanes = 1 + rng() % 64;
    const std::vector<LaneValues> inputs = random_inputs(circuit.info(), lanes, rng);
    const std::vector<LaneValues> expected = evaluate(circuit, lanes, inputs);
    const CircuitCost cost = cost_of(circuit);
    for (const std::size_t window :
         {std::size_t{1}, std::size_t{2}, std::size_t{9}, std::size_t{50}, kWide}) {
      SlotInterpreter interpreter(circuit.info(), lanes, inputs);
      generate_rounds(circuit, lanes, window, interpreter, GroupsAs::Polynomials);
      ASSERT_NO_FATAL_FAILURE(expect_equal(interpreter.outputs, expected))
          << "circuit " << i << ", window " << window;
      EXPECT_EQ(interpreter.products, cost.products_of(lanes));
      EXPECT_EQ(interpreter.groups, cost.groups);
      if (window == kWide) {
        EXPECT_EQ(interpreter.rounds - interpreter.rounds_without_ands, cost.product_depth);
        EXPECT_LE(interpreter.rounds_without_ands, 1u);
      }
    }
    groups += cost.groups;
    ASSERT_FALSE(HasFailure()) << i;
  }
  EXPECT_GT(groups, 1000u);
}

TEST(Layering, OfAesHasARoundForEachGroup) {
  const auto circuit = find_circuit("aes128:sbox=gf16");
  std::mt19937_64 rng(15);
  const std::vector<LaneValues> inputs = random_inputs(circuit->info(), 17, rng);
  SlotInterpreter one(circuit->info(), 17, inputs), gates(circuit->info(), 17, inputs);
  generate_rounds(*circuit, 17, kWide, one, GroupsAs::Polynomials);
  generate_rounds(*circuit, 17, kWide, gates);
  EXPECT_EQ(one.rounds, 31u);
  EXPECT_EQ(one.groups, 200u);
  EXPECT_EQ(one.products, 37u * (40 + 17 * 160));
  EXPECT_EQ(gates.rounds, 41u);
  EXPECT_EQ(gates.groups, 0u);
  expect_equal(one.outputs, gates.outputs);
}

// Each window ends after the group that fills it.
TEST(Layering, GroupsAreNotDivided) {
  const CircuitInfo info = test_info({8}, {4});
  const TestCircuit chain(info, [&info](GateSink& sink) {
    Builder builder(sink, info);
    Bits x = builder.input(0);
    for (int i = 0; i < 1000; ++i) {
      Bits next = builder.group([&] {
        Bits made;
        for (std::size_t k = 0; k < 8; ++k) made.push_back(x[k] & x[(k + 1) % 8]);
        return made;
      });
      x = std::move(next);
    }
    builder.output(0, BitSpan(x).first(4));
  });
  for (const std::size_t window : {1, 7, 8, 9, 16, 100, 4096}) {
    CountingSink sink;
    generate_rounds(chain, 1, window, sink, GroupsAs::Polynomials);
    EXPECT_EQ(sink.ands, 8000u);
    EXPECT_GE(sink.rounds, 1000u);
    EXPECT_LE(sink.largest, std::max<std::size_t>(window, 8));
    EXPECT_LE(sink.slots, 16u);
  }
}

TEST(Layering, KeyScheduleIsCommonToAllLanes) {
  const auto circuit = find_circuit("aes128");
  const CircuitCost cost = cost_of(*circuit);
  EXPECT_EQ(cost.invariant_ands, 40u * 32);
  EXPECT_EQ(cost.ands_of(1), 200u * 32);
  EXPECT_EQ(cost.ands_of(5), (40u + 5 * 160) * 32);
  for (const std::size_t lanes : {1, 2, 300}) {
    CountingSink sink;
    generate_rounds(*circuit, lanes, kWide, sink);
    EXPECT_EQ(sink.ands, cost.ands);
    EXPECT_EQ(sink.invariant_ands, lanes == 1 ? 0 : cost.invariant_ands);
  }
}

TEST(Layering, AesHasRoundsEqualToItsDepthAndMoreInANarrowWindow) {
  const auto circuit = find_circuit("aes128");
  std::mt19937_64 rng(5);
  const std::vector<LaneValues> inputs = random_inputs(circuit->info(), 17, rng);
  const std::vector<LaneValues> expected = evaluate(*circuit, 17, inputs);
  SlotInterpreter wide(circuit->info(), 17, inputs);
  generate_rounds(*circuit, 17, kWide, wide);
  EXPECT_EQ(wide.rounds, 61u);
  EXPECT_EQ(wide.rounds_without_ands, 1u);
  expect_equal(wide.outputs, expected);
  SlotInterpreter narrow(circuit->info(), 17, inputs);
  generate_rounds(*circuit, 17, 1000, narrow);
  EXPECT_GT(narrow.rounds, wide.rounds);
  EXPECT_LT(narrow.slots(), wide.slots());
  expect_equal(narrow.outputs, expected);
}

TEST(Layering, LongChainUsesFewSlots) {
  const CircuitInfo info = test_info({2}, {1});
  for (const GateKind kind : {GateKind::Xor, GateKind::And}) {
    const TestCircuit chain(info, [kind](GateSink& sink) {
      sink.emit({GateKind::Input, 0, 0, 0});
      sink.emit({GateKind::Input, 1, 0, 1});
      for (WireId id = 2; id < 1000002; ++id) {
        sink.emit({kind, id, 0, id - 1});
        sink.emit({GateKind::Free, 0, id - 1, 0});
      }
      sink.emit({GateKind::Output, 0, 1000001, 0});
    });
    for (const std::size_t window : {std::size_t{1}, std::size_t{100}, kWide}) {
      CountingSink sink;
      generate_rounds(chain, 1, window, sink);
      EXPECT_LE(sink.slots, 3u);
      EXPECT_EQ(sink.ands + sink.local, 1000000u);
      // Windows split the chain at no cost; with a window of one, each of the two inputs and the
      // output has its own round.
      if (kind == GateKind::And) {
        EXPECT_EQ(sink.rounds, window == 1 ? 1000003u : 1000001u);
      }
    }
  }
}

TEST(Layering, IndependentAndsShareARoundOfTheWindow) {
  const TestCircuit wide(test_info({2}, {1}), [](GateSink& sink) {
    sink.emit({GateKind::Input, 0, 0, 0});
    sink.emit({GateKind::Input, 1, 0, 1});
    for (WireId id = 2; id < 1002; ++id) sink.emit({GateKind::And, id, 0, 1});
    sink.emit({GateKind::Output, 0, 1001, 0});
  });
  CountingSink all, narrow;
  generate_rounds(wide, 1, kWide, all);
  EXPECT_EQ(all.rounds, 2u);
  EXPECT_EQ(all.slots, 1002u);
  generate_rounds(wide, 1, 102, narrow);
  EXPECT_EQ(narrow.rounds, 11u);  // the output follows the last AND
  EXPECT_EQ(narrow.ands, 1000u);
}

TEST(Layering, EmptyCircuitHasNoRounds) {
  CountingSink sink;
  generate_rounds(TestCircuit(test_info({}, {}), std::vector<Gate>{}), 1, 10, sink);
  EXPECT_EQ(sink.rounds, 0u);
}

TEST(Layering, RejectsMalformedStreams) {
  const CircuitInfo info = test_info({1}, {1});
  const std::vector<std::vector<Gate>> streams = {
      // read before written
      {{GateKind::Not, 1, 0, 0}},
      // read after freed
      {{GateKind::Input, 0, 0, 0}, {GateKind::Free, 0, 0, 0}, {GateKind::Not, 1, 0, 0}},
      // freed twice
      {{GateKind::Input, 0, 0, 0}, {GateKind::Free, 0, 0, 0}, {GateKind::Free, 0, 0, 0}},
      // written twice
      {{GateKind::Input, 0, 0, 0}, {GateKind::Not, 0, 0, 0}},
      // no such input bit
      {{GateKind::Input, 0, 0, 1}},
      // no such input bundle
      {{GateKind::Input, 0, 1, 0}},
      // no such output bundle
      {{GateKind::Input, 0, 0, 0}, {GateKind::Output, 1, 0, 0}},
      // not a bit
      {{GateKind::Const, 0, 2, 0}},
  };
  for (const std::vector<Gate>& stream : streams) {
    CountingSink sink;
    EXPECT_THROW(generate_rounds(TestCircuit(info, stream), 1, 10, sink), std::logic_error);
  }
  CountingSink sink;
  EXPECT_THROW(generate_rounds(TestCircuit(info, std::vector<Gate>{}), 1, 0, sink),
               std::logic_error);
  const Gate begin{GateKind::GroupBegin, 0, 0, 0}, end{GateKind::GroupEnd, 0, 0, 0};
  const Gate input{GateKind::Input, 0, 0, 0}, inner{GateKind::Not, 1, 0, 0};
  const std::vector<std::vector<Gate>> groups = {
      {begin, begin},
      {end},
      {begin},
      {input, begin, inner, {GateKind::Free, 0, 1, 0}, end, {GateKind::Not, 2, 1, 0}},
      {begin, inner, end},
      {input, begin, inner, inner, end},
      {input, begin, {GateKind::Not, 0, 0, 0}, end},
  };
  for (const std::vector<Gate>& stream : groups)
    EXPECT_THROW(generate_rounds(TestCircuit(info, stream), 1, 10, sink, GroupsAs::Polynomials),
                 std::logic_error);
}

}  // namespace
}  // namespace tinyot
