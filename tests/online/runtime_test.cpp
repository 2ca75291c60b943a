// The online phase on the ideal dealer's material, against the plain evaluator.
#include "online/runtime.h"

#include <gtest/gtest.h>

#include "circuitgen/circuit_file.h"
#include "circuitgen/registry.h"
#include "tests/online/online_run.h"
#include "tests/online/random_circuit.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

class Runtime : public testing::TestWithParam<MaterialForm> {};

INSTANTIATE_TEST_SUITE_P(FromEachForm, Runtime, testing::Values(MaterialForm::Pairs, MaterialForm::Triples),
                         [](const auto& form) { return std::string(name_of(form.param)); });

TEST_P(Runtime, RandomCircuitsEqualThePlainEvaluator) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const RandomCircuit circuit(seed, 10 + 3 * (seed % 40));
    const std::size_t lanes = 1 + seed % 70;
    Rng rng(Seed{{seed, 5}});
    const auto inputs = random_inputs(circuit, lanes, rng);
    const OnlineRun run = run_online(circuit, lanes, inputs, {.seed = seed}, true, GetParam());
    expect_outputs(circuit, run, evaluate(circuit, lanes, inputs));
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST_P(Runtime, DrawsWhatMaterialForForetells) {
  const RandomCircuit circuit(3, 200);
  Rng rng(Seed{{1, 1}});
  const auto inputs = random_inputs(circuit, 9, rng);
  const OnlineRun run = run_online(circuit, 9, inputs, {}, true, GetParam());
  const MaterialCounts foretold = material_for(circuit.info(), cost_of(circuit).ands_of(9), GetParam(), 9);
  EXPECT_EQ(run.dealt_a, foretold);
  EXPECT_EQ(run.dealt_b, foretold);
}

TEST_P(Runtime, AesOfThreeBlocks) {
  const auto circuit = find_circuit("aes128");
  ASSERT_NE(circuit, nullptr);
  Rng rng(Seed{{2, 2}});
  const auto inputs = random_inputs(*circuit, 3, rng);
  const OnlineRun run = run_online(*circuit, 3, inputs, {}, true, GetParam());
  expect_outputs(*circuit, run, evaluate(*circuit, 3, inputs));
  EXPECT_EQ(run.a.and_rounds, cost_of(*circuit).and_depth);
}

TEST_P(Runtime, CircuitFile) {
  const auto circuit = open_circuit_file(TINYOT_CIRCUITS_DIR "/adder64.txt");
  Rng rng(Seed{{3, 3}});
  const auto inputs = random_inputs(*circuit, 5, rng);
  expect_outputs(*circuit, run_online(*circuit, 5, inputs, {}, true, GetParam()), evaluate(*circuit, 5, inputs));
}

TEST_P(Runtime, TenBitsAnAndOnTheWireOrFourFromTriples) {
  const auto circuit = find_circuit("aes128");
  Rng rng(Seed{{2, 2}});
  const std::size_t lanes = 64;
  const auto inputs = random_inputs(*circuit, lanes, rng);
  std::uint64_t sent = 0;
  run_sessions([&](Session& session) {
    IdealDealer dealer(session.me(), 1, global_key_of(Party::A, 1), global_key_of(Party::B, 1));
    std::vector<std::optional<BundleValues>> mine(inputs.size());
    for (std::size_t b = 0; b < inputs.size(); ++b)
      if (circuit->info().inputs[b].owner == session.me()) mine[b] = inputs[b];
    const CircuitCost cost = cost_of(*circuit);
    CircuitRounds rounds(*circuit, cost.gates(), lanes, window_for(lanes));
    run_circuit(session, dealer, material_for(circuit->info(), cost.ands_of(lanes), GetParam(), lanes), GetParam(), rounds, mine);
    if (session.me() == Party::A) sent = session.log().phases().front().bytes_sent;
  });
  const double bits_of_an_and = GetParam() == MaterialForm::Pairs ? 5 : 2;  // of each party
  const double floor = bits_of_an_and / 8 * static_cast<double>(cost_of(*circuit).ands_of(lanes)) + 128.0 / 8 * (lanes + 1);  // and A's inputs
  EXPECT_GE(static_cast<double>(sent), floor);
  EXPECT_LT(static_cast<double>(sent), 1.02 * floor);
}

}  // namespace
}  // namespace tinyot
