// The rounds and bytes that are estimated for a run are those of the run.
#include "engine/run_estimate.h"

#include <gtest/gtest.h>

#include "circuitgen/generators/registry.h"
#include "engine/loaded_circuit.h"
#include "tests/online/garbling_key.h"
#include "tests/online/listed_circuit.h"
#include "tests/online/online_run.h"
#include "tests/support/half_round_trips.h"
#include "tests/support/layers.h"
#include "tests/support/test_name.h"

namespace tinyot {
namespace {

using namespace tinyot::test;
using engine::LoadedCircuit;
using engine::RunEstimate;

class RunEstimates : public testing::TestWithParam<AndMaterial> {
 protected:
  // Compares the estimates of all phases with what both parties of their runs count.
  static void expect_as_run(const Circuit& circuit, std::size_t lanes, std::size_t window = 0) {
    const LoadedCircuit loaded = LoadedCircuit::borrowed(circuit, lanes);
    Rng rng(Seed{{5, 1}});
    const Inputs inputs = random_inputs(circuit, lanes, rng);
    std::uint64_t most_ands = 0;
    for (const RunEstimate& estimate :
         engine::estimate_runs(loaded, GetParam(), window == 0 ? window_for(lanes) : window)) {
      SCOPED_TRACE(circuit.info().name + " on " + std::to_string(lanes) + ", " +
                   std::string(estimate.phase->name));
      expect_as_run(loaded, inputs, estimate);
      most_ands = std::max(most_ands, estimate.cost.ands);
    }
    EXPECT_EQ(engine::demand_of_runs(loaded, GetParam(), 3).ands,
              std::max<std::uint64_t>(3 * most_ands, 1));
  }

 private:
  static void expect_as_run(const LoadedCircuit& circuit, const Inputs& inputs,
                            const RunEstimate& estimate) {
    const CircuitInfo& info = circuit.info();
    HalfRoundTrips half_round_trips;
    run_sessions(
        [&](Session& outer) {
          const Party me = outer.me();
          PhaseLog log;
          Session session(me, {outer.id(), outer.id()}, garbling_key(me, 1), outer.channel(),
                          outer.rng().fork(), log);
          IdealDealer dealer(me, 1, garbling_key(Party::A, 1), garbling_key(Party::B, 1));
          BundleValues mine(inputs.size());
          for (std::size_t b = 0; b < mine.size(); ++b)
            if (gives(info.inputs[b].source, me)) mine[b] = matrix_of(inputs[b]);
          CircuitRounds rounds = circuit.rounds(estimate.window, estimate.phase->groups);
          const ChannelCounters before = session.channel().counters();
          half_round_trips.restart(me);
          const auto run =
              estimate.phase->make({.session = session,
                                    .source = dealer,
                                    .wanted = estimate.phase->material_for(
                                        info, estimate.cost.ands, GetParam(), circuit.lanes(), {}),
                                    .form = GetParam(),
                                    .rounds = rounds});
          run->prepare();
          const online::Evaluation result = run->finish(mine);
          const auto number = static_cast<std::size_t>(me);
          EXPECT_EQ(estimate.cost.ands, result.ands);
          EXPECT_EQ(estimate.cost.and_rounds, result.and_rounds);
          EXPECT_EQ(estimate.cost.bytes_sent[number],
                    session.channel().counters().bytes_sent - before.bytes_sent);
          EXPECT_EQ(estimate.cost.half_round_trips[number], half_round_trips.now(me)) << letter(me);
        },
        {.wrap_a = half_round_trips.of(Party::A), .wrap_b = half_round_trips.of(Party::B)});
  }
};

INSTANTIATE_TEST_SUITE_P(FromEachForm, RunEstimates,
                         testing::Values(AndMaterial::AandAot, AndMaterial::Triples,
                                         AndMaterial::Garbling),
                         [](const auto& form) { return test_name(form.param); });

TEST_P(RunEstimates, AreExactForCircuitsOfEachShape) {
  expect_as_run(*find_circuit("aes128"), 1);
  expect_as_run(*find_circuit("aes128:sbox=shallow"), 67);
  expect_as_run(*find_circuit("aes128:sbox=gf16"), 3);
  expect_as_run(mixed_layers(), 5);
  expect_as_run(*find_circuit("millionaires"), 100);
}

TEST_P(RunEstimates, AreExactForASmallWindow) {
  // Inputs in several rounds, one after the other.
  expect_as_run(*find_circuit("millionaires"), 3, 7);
  expect_as_run(mixed_layers(), 2, 3);
}

// Outputs and layers of several messages.
TEST_P(RunEstimates, AreExactForSeveralMessages) {
  ListedCircuit circuit;
  const auto x = circuit.input(Party::A, 2), y = circuit.input(Party::B, 1);
  circuit.output(Receiver::A, {circuit.and_of(x[0], y[0]), circuit.and_of(x[1], y[0])});
  circuit.output(Receiver::Both, {x[0]});
  expect_as_run(circuit, 40'000);
}

TEST_P(RunEstimates, AreExactForAnyReceiver) {
  for (const Receiver receiver : {Receiver::None, Receiver::A, Receiver::B}) {
    ListedCircuit circuit;
    const auto x = circuit.input(Party::A, 1), y = circuit.input(Party::B, 1);
    circuit.output(receiver, {circuit.and_of(x[0], y[0])});
    expect_as_run(circuit, 3);
  }
}

TEST_P(RunEstimates, AreExactWithoutAnds) {
  ListedCircuit circuit;
  const auto x = circuit.input(Party::A, 2), y = circuit.input(Party::B, 2);
  circuit.output(Receiver::Both, {circuit.xor_of(x[0], y[0]), circuit.xor_of(x[1], y[1])});
  expect_as_run(circuit, 3);
  ListedCircuit of_b;
  const auto z = of_b.input(Party::B, 2);
  of_b.output(Receiver::A, {of_b.xor_of(z[0], z[1])});
  expect_as_run(of_b, 2);
}

TEST(RunEstimate, TimeOfTheLinkIsThatOfItsRoundsAndBytes) {
  RunEstimate estimate{};
  estimate.cost.half_round_trips = {9, 10};
  estimate.cost.bytes_sent = {1'000'000, 2'000'000};
  EXPECT_DOUBLE_EQ(estimate.link_s({std::chrono::milliseconds(40), 0}), 0.2);
  EXPECT_DOUBLE_EQ(estimate.link_s({std::chrono::milliseconds(40), 100e6}), 0.2 + 0.16);
  EXPECT_DOUBLE_EQ(engine::estimated_s(estimate, {0.1, 0.05}, {std::chrono::milliseconds(40), 0}),
                   0.25);
  EXPECT_DOUBLE_EQ(engine::estimated_s(estimate, {0.3, 0.05}, {std::chrono::milliseconds(40), 0}),
                   0.35);
}

}  // namespace
}  // namespace tinyot
