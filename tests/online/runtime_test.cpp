// The online phase on the ideal dealer's material, compared with the plain evaluator.
#include "online/runtime.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "circuitgen/cost.h"
#include "circuitgen/formats/circuit_file.h"
#include "circuitgen/generators/registry.h"
#include "tests/online/listed_circuit.h"
#include "tests/online/online_run.h"
#include "tests/online/random_circuit.h"
#include "tests/support/layers.h"
#include "tests/support/repetitions.h"
#include "tests/support/test_name.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

class Runtime : public testing::TestWithParam<AndMaterial> {};

INSTANTIATE_TEST_SUITE_P(FromEachForm, Runtime,
                         testing::Values(AndMaterial::AandAot, AndMaterial::Triples),
                         [](const auto& form) { return test_name(form.param); });

// A circuit of any shape, its lanes, inputs and window, all derived from one seed.
struct Drawn {
  explicit Drawn(std::uint64_t seed)
      : circuit(RandomCircuit::of_any_shape(seed)), lanes(lanes_of(seed)),
        window(kWindows[seed % std::size(kWindows)]) {
    Rng rng(Seed{{seed, 5}});
    inputs = random_inputs(circuit, lanes, rng);
  }
  OnlineJob job(AndMaterial form) const { return {circuit, lanes, inputs, form, window}; }

  RandomCircuit circuit;
  std::size_t lanes, window;
  Inputs inputs;

 private:
  static constexpr std::size_t kWindows[] = {1, 2, 7, 50, 0};
  static constexpr std::size_t kWide[] = {64, 65, 127, 128, 129, 200};
  // Mostly few: each number up to 70 occurs, and sometimes more than a tile.
  static std::size_t lanes_of(std::uint64_t seed) {
    if (seed / 2 % 25 == 0) return kWide[seed / 50 % std::size(kWide)];
    return seed % 3 == 0 ? 1 + seed / 3 % 70 : 1 + seed % 7;
  }
};

// 10,000 circuits for both forms together, fewer under a sanitizer; many run on one pair of
// sessions, whose transcripts continue from one circuit to the next.
TEST_P(Runtime, RandomCircuitsMatchThePlainEvaluator) {
  constexpr std::uint64_t kSessions = repetitions(50), kCircuits = 100;
  for (std::uint64_t seed = 1; seed <= kSessions; ++seed) {
    std::vector<Drawn> drawn;
    for (std::uint64_t i = 0; i < kCircuits; ++i)
      drawn.emplace_back(2 * (seed * kCircuits + i) + (GetParam() == AndMaterial::AandAot));
    std::vector<Evaluation> results[2];
    run_sessions(
        [&](Session& session) {
          IdealDealer dealer = dealer_of(session, seed);
          for (const Drawn& one : drawn)
            results[static_cast<int>(session.me())].push_back(
                run_party(session, dealer, one.job(GetParam())));
        },
        {.seed = seed});
    for (std::size_t i = 0; i < kCircuits && !HasFailure(); ++i) {
      SCOPED_TRACE("session " + std::to_string(seed) + ", circuit " + std::to_string(i));
      ASSERT_GT(std::min(results[0].size(), results[1].size()), i);
      expect_outputs(drawn[i].circuit.info(), results[0][i], results[1][i],
                     evaluate(drawn[i].circuit, drawn[i].lanes, drawn[i].inputs));
    }
    if (HasFailure()) return;
  }
}

// Statistics of a circuit's stream.
struct Look : GateSink {
  void emit(const Gate& gate) override {
    if (gate.kind == GateKind::Input) inputs.insert(gate.out);
    if (gate.kind == GateKind::Output) ++given[gate.in0], input_output |= inputs.contains(gate.in0);
    if (gate.kind == GateKind::And) same_twice |= gate.in0 == gate.in1;
    if (gate.kind == GateKind::Xor || gate.kind == GateKind::And) read.insert(gate.in1);
    if (gate.kind != GateKind::Input && gate.kind != GateKind::Const && gate.kind != GateKind::Free)
      read.insert(gate.in0);
  }
  std::map<WireId, int> given;  // as outputs
  std::set<WireId> inputs, read;
  bool input_output = false, same_twice = false;
};

struct RoundCount : RoundSink {
  void round(Round&) override { ++rounds; }
  std::uint64_t rounds = 0;
};

// Each shape that random circuits are said to have occurs often enough.
TEST(RandomCircuits, HaveEveryShape) {
  struct Seen {
    int no_ands, only_a, only_b, no_inputs, invariant_ands, mixed_ands, splits, input_output, twice,
        same_twice, unread, one_receiver;
  } seen = {};
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const Drawn drawn(seed);
    const CircuitInfo& info = drawn.circuit.info();
    const CircuitCost cost = cost_of(drawn.circuit);
    const bool of_a = cost.input_bits_of(Party::A) > 0, of_b = cost.input_bits_of(Party::B) > 0;
    seen.no_ands += cost.ands == 0;
    seen.only_a += of_a && !of_b;
    seen.only_b += of_b && !of_a;
    seen.no_inputs += !of_a && !of_b;
    seen.invariant_ands += cost.invariant_ands > 0 && drawn.lanes > 1;
    seen.mixed_ands +=
        cost.invariant_ands > 0 && cost.ands > cost.invariant_ands && drawn.lanes > 1;
    for (const Receiver receiver : {Receiver::A, Receiver::B})
      seen.one_receiver += std::ranges::all_of(
          info.outputs, [&](const OutputBundle& bundle) { return bundle.to == receiver; });
    Look look;
    drawn.circuit.generate(look);
    seen.input_output += look.input_output;
    seen.same_twice += look.same_twice;
    seen.twice += std::ranges::any_of(look.given, [](const auto& wire) { return wire.second > 1; });
    seen.unread +=
        std::ranges::any_of(look.inputs, [&](WireId wire) { return !look.read.contains(wire); });
    RoundCount count;
    generate_rounds(drawn.circuit, drawn.lanes,
                    drawn.window == 0 ? window_for(drawn.lanes) : drawn.window, count);
    seen.splits += count.rounds > cost.and_depth + 1;
  }
  for (const int count : {seen.no_ands, seen.only_a, seen.only_b, seen.no_inputs,
                          seen.invariant_ands, seen.mixed_ands})
    EXPECT_GT(count, 30);
  for (const int count : {seen.splits, seen.input_output, seen.twice, seen.same_twice, seen.unread,
                          seen.one_receiver})
    EXPECT_GT(count, 30);
}

TEST_P(Runtime, DrawsTheMaterialOfMaterialFor) {
  const RandomCircuit circuit(3, 200);
  Rng rng(Seed{{1, 1}});
  const auto inputs = random_inputs(circuit, 9, rng);
  const OnlineRun run = run_online({circuit, 9, inputs, GetParam()});
  const MaterialCounts estimated =
      material_for(circuit.info(), cost_of(circuit).ands_of(9), GetParam(), 9);
  EXPECT_EQ(run.dealt_a, estimated);
  EXPECT_EQ(run.dealt_b, estimated);
}

TEST_P(Runtime, AesOfThreeBlocks) {
  const auto circuit = find_circuit("aes128");
  ASSERT_NE(circuit, nullptr);
  Rng rng(Seed{{2, 2}});
  const auto inputs = random_inputs(*circuit, 3, rng);
  const OnlineRun run = run_online({*circuit, 3, inputs, GetParam()});
  expect_outputs(*circuit, run, evaluate(*circuit, 3, inputs));
  EXPECT_EQ(run.a.and_rounds, cost_of(*circuit).and_depth);
}

// Two rounds per layer of ANDs, one with triples, and three for the outputs. Inputs take none.
TEST_P(Runtime, TakesTheDocumentedRoundsAndMessages) {
  const ListedCircuit circuit = mixed_layers();
  Rng rng(Seed{{3, 4}});
  const auto inputs = random_inputs(circuit, 5, rng);
  ChannelCounters spent[2];
  run_sessions([&](Session& session) {
    IdealDealer dealer = dealer_of(session, 1);
    const ChannelCounters before = session.channel().counters();
    const Evaluation result = run_party(session, dealer, {circuit, 5, inputs, GetParam()});
    const ChannelCounters after = session.channel().counters();
    spent[static_cast<int>(session.me())] = {
        .messages_sent = after.messages_sent - before.messages_sent,
        .rounds = after.rounds - before.rounds};
    EXPECT_EQ(result.and_rounds, 3u);
  });
  const std::uint64_t of_ands = GetParam() == AndMaterial::AandAot ? 2 * 3 : 3;
  for (const ChannelCounters& counters : spent) {
    EXPECT_EQ(counters.rounds, of_ands + 3);
    EXPECT_EQ(counters.messages_sent, 1 + of_ands + 3);
  }
}

TEST_P(Runtime, SendsTenBitsPerAndOrFourWithTriples) {
  const auto circuit = find_circuit("aes128");
  Rng rng(Seed{{2, 2}});
  const std::size_t lanes = 64;
  const auto inputs = random_inputs(*circuit, lanes, rng);
  std::uint64_t sent = 0;
  run_sessions([&](Session& session) {
    IdealDealer dealer = dealer_of(session, 1);
    run_party(session, dealer, {*circuit, lanes, inputs, GetParam()});
    if (session.me() == Party::A) sent = session.log().phases().front().bytes_sent;
  });
  const double bits_of_an_and = GetParam() == AndMaterial::AandAot ? 5 : 2;  // of each party
  // and A's inputs
  const double lower_bound =
      bits_of_an_and / 8 * static_cast<double>(cost_of(*circuit).ands_of(lanes)) +
      128.0 / 8 * (lanes + 1);
  EXPECT_GE(static_cast<double>(sent), lower_bound);
  EXPECT_LT(static_cast<double>(sent), 1.02 * lower_bound);
}

}  // namespace
}  // namespace tinyot
