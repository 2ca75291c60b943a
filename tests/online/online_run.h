// Two parties evaluate a circuit on material from the ideal dealer.
#pragma once

#include <gtest/gtest.h>

#include "circuitgen/evaluate.h"
#include "online/runtime.h"
#include "tests/support/ideal_dealer.h"
#include "tests/support/two_parties.h"

namespace tinyot::test {

struct OnlineRun {
  RunResult a, b;
  MaterialCounts dealt_a, dealt_b;
  Outcomes outcomes;
};

inline std::vector<LaneValues> random_inputs(const Circuit& circuit, std::size_t lanes, Rng& rng) {
  std::vector<LaneValues> inputs;
  for (const InputBundle& bundle : circuit.info().inputs) {
    LaneValues values;
    for (std::size_t lane = 0; lane < (bundle.same_in_all_lanes ? 1 : lanes); ++lane) values.push_back(rng.bits(bundle.bits));
    inputs.push_back(std::move(values));
  }
  return inputs;
}

inline OnlineRun run_online(const Circuit& circuit, std::size_t lanes, const std::vector<LaneValues>& inputs, const PartyOptions& options = {},
                            bool expect_done = true, MaterialForm form = MaterialForm::Pairs) {
  OnlineRun run;
  run.outcomes = run_sessions(
      [&](Session& session) {
        const Delta of_a = global_key_of(Party::A, options.seed), of_b = global_key_of(Party::B, options.seed);
        IdealDealer dealer(session.me(), options.seed, of_a, of_b);
        std::vector<std::optional<BundleValues>> mine(inputs.size());
        for (std::size_t b = 0; b < inputs.size(); ++b)
          if (circuit.info().inputs[b].owner == session.me()) mine[b] = inputs[b];
        const CircuitCost cost = cost_of(circuit);
        CircuitRounds rounds(circuit, cost.gates(), lanes, window_for(lanes));
        RunResult result = run_circuit(session, dealer, material_for(circuit.info(), cost.ands_of(lanes), form, lanes), form, rounds, mine);
        (session.me() == Party::A ? run.a : run.b) = std::move(result);
        (session.me() == Party::A ? run.dealt_a : run.dealt_b) = dealer.dealt;
      },
      options, expect_done);
  return run;
}

inline void expect_equal(const BitVector& got, const BitVector& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], wanted[i]) << "bit " << i;
}

// Each party has exactly the outputs that are for it, and they are right.
inline void expect_outputs(const Circuit& circuit, const OnlineRun& run, const std::vector<LaneValues>& wanted) {
  for (const Party party : {Party::A, Party::B}) {
    const auto& outputs = (party == Party::A ? run.a : run.b).outputs;
    ASSERT_EQ(outputs.size(), wanted.size());
    for (std::size_t b = 0; b < wanted.size(); ++b) {
      ASSERT_EQ(outputs[b].has_value(), receives(circuit.info().outputs[b].to, party));
      if (!outputs[b]) continue;
      ASSERT_EQ(outputs[b]->size(), wanted[b].size());
      for (std::size_t lane = 0; lane < wanted[b].size(); ++lane) expect_equal((*outputs[b])[lane], wanted[b][lane]);
    }
  }
}

}  // namespace tinyot::test
