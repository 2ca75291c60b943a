// The rounds and bytes that are estimated for a run are those of the run.
#include "engine/run_estimate.h"

#include <gtest/gtest.h>

#include "circuitgen/generators/registry.h"
#include "engine/loaded_circuit.h"
#include "tests/online/listed_circuit.h"
#include "tests/online/online_run.h"
#include "tests/support/layers.h"
#include "tests/support/test_name.h"

namespace tinyot {
namespace {

using namespace tinyot::test;
using engine::LoadedCircuit;
using engine::RunEstimate;

class RunEstimates : public testing::TestWithParam<AndMaterial> {
 protected:
  // Compares the estimate with what both parties of a run count. A receive that follows a send is
  // no wait if the message has arrived by then: `counts_waits` says that there are none.
  static void expect_as_run(const Circuit& circuit, std::size_t lanes, bool counts_waits,
                            std::size_t window = 0) {
    SCOPED_TRACE(circuit.info().name + " on " + std::to_string(lanes));
    const LoadedCircuit loaded = LoadedCircuit::borrowed(circuit, lanes);
    const RunEstimate estimate =
        engine::estimate_run(loaded, GetParam(), window == 0 ? window_for(lanes) : window);
    Rng rng(Seed{{5, 1}});
    const Inputs inputs = random_inputs(circuit, lanes, rng);
    run_sessions([&](Session& session) {
      IdealDealer dealer = dealer_of(session, 1);
      const ChannelCounters before = session.channel().counters();
      const online::Evaluation result =
          run_party(session, dealer, {loaded.circuit(), lanes, inputs, GetParam(), window});
      const ChannelCounters after = session.channel().counters();
      EXPECT_EQ(estimate.ands, result.ands);
      EXPECT_EQ(estimate.and_rounds, result.and_rounds);
      EXPECT_EQ(estimate.bytes_sent[static_cast<std::size_t>(session.me())],
                after.bytes_sent - before.bytes_sent);
      if (counts_waits) {
        EXPECT_EQ(estimate.rounds, after.rounds - before.rounds);
      }
    });
    EXPECT_EQ(engine::demand_of_runs(loaded, GetParam(), 3).ands,
              std::max<std::uint64_t>(3 * estimate.ands, 1));
  }
};

INSTANTIATE_TEST_SUITE_P(FromEachForm, RunEstimates,
                         testing::Values(AndMaterial::AandAot, AndMaterial::Triples),
                         [](const auto& form) { return test_name(form.param); });

TEST_P(RunEstimates, AreExactForCircuitsOfEachShape) {
  // With pairs, the party that reveals all outputs sends two messages at once.
  expect_as_run(*find_circuit("aes128"), 1, GetParam() == AndMaterial::Triples);
  expect_as_run(*find_circuit("aes128:sbox=shallow"), 67, GetParam() == AndMaterial::Triples);
  expect_as_run(mixed_layers(), 5, true);
  expect_as_run(*find_circuit("millionaires"), 100, true);
}

TEST_P(RunEstimates, AreExactForASmallWindow) {
  // Inputs in several rounds, one after the other.
  expect_as_run(*find_circuit("millionaires"), 3, false, 7);
  expect_as_run(mixed_layers(), 2, false, 3);
}

// Outputs and layers of several messages.
TEST_P(RunEstimates, AreExactForSeveralMessages) {
  ListedCircuit circuit;
  const auto x = circuit.input(Party::A, 2), y = circuit.input(Party::B, 1);
  circuit.output(Receiver::A, {circuit.and_of(x[0], y[0]), circuit.and_of(x[1], y[0])});
  circuit.output(Receiver::Both, {x[0]});
  expect_as_run(circuit, 40'000, true);
}

TEST_P(RunEstimates, AreExactWithoutAnds) {
  ListedCircuit circuit;
  const auto x = circuit.input(Party::A, 2), y = circuit.input(Party::B, 2);
  circuit.output(Receiver::Both, {circuit.xor_of(x[0], y[0]), circuit.xor_of(x[1], y[1])});
  expect_as_run(circuit, 3, true);
}

TEST(RunEstimate, TimeOfTheLinkIsThatOfItsRoundsAndBytes) {
  RunEstimate estimate;
  estimate.rounds = 10;
  estimate.bytes_sent = {1'000'000, 2'000'000};
  EXPECT_DOUBLE_EQ(estimate.link_s({std::chrono::milliseconds(40), 0}), 0.2);
  EXPECT_DOUBLE_EQ(estimate.link_s({std::chrono::milliseconds(40), 100e6}), 0.2 + 0.16);
  EXPECT_DOUBLE_EQ(engine::estimated_s(estimate, {0.1, 0.05}, {std::chrono::milliseconds(40), 0}),
                   0.25);
  EXPECT_DOUBLE_EQ(engine::estimated_s(estimate, {0.3, 0.05}, {std::chrono::milliseconds(40), 0}),
                   0.35);
}

}  // namespace
}  // namespace tinyot
