// Two parties evaluate a circuit on material from the ideal dealer.
#pragma once

#include <gtest/gtest.h>

#include "circuitgen/cost.h"
#include "online/interactive/interactive_run.h"
#include "online/masked/mask_plan.h"
#include "online/runtime.h"
#include "tests/support/ideal_dealer.h"
#include "tests/support/lane_values.h"
#include "tests/support/layers.h"
#include "tests/support/two_parties.h"

namespace tinyot::test {

using Inputs = std::vector<LaneValues>;

// A circuit with the inputs of both parties.
struct OnlineJob {
  const Circuit& circuit;
  std::size_t lanes;
  const Inputs& inputs;
  AndMaterial form = AndMaterial::AandAot;
  std::size_t window = 0;  // 0: window_for(lanes)
  // Of a masked run on triples, which has other atoms.
  enum class Masks { None, AtOnce, Prepared } masks = Masks::None;
  std::size_t atoms_max = online::MaskPlanner::kAtomsMax;
  std::shared_ptr<const LayeredCircuit> layered = nullptr;  // with the window, if it is kept
};

inline std::string name_of_masks(const testing::TestParamInfo<OnlineJob::Masks>& info) {
  return info.param == OnlineJob::Masks::AtOnce ? "AtOnce" : "Prepared";
}

// How a phase evaluates groups.
inline GroupsAs groups_of(const OnlineJob& job) {
  return job.masks == OnlineJob::Masks::None ? GroupsAs::Gates : GroupsAs::Polynomials;
}

struct OnlineRun {
  Evaluation a, b;
  MaterialCounts dealt_a, dealt_b;
  Outcomes outcomes;

  const Evaluation& of(Party party) const { return party == Party::A ? a : b; }
  const Outcome& outcome(Party party) const { return party == Party::A ? outcomes.a : outcomes.b; }
};

Inputs random_inputs(const Circuit& circuit, std::size_t lanes, Rng& rng);

// One party's run, with its own inputs only.
Evaluation run_party(Session& session, material::Source& material, const OnlineJob& job,
                     const SharedValues& shared = {});

// The ideal dealer for one party of run_sessions.
IdealDealer dealer_of(const Session& session, std::uint64_t seed);

OnlineRun run_online(const OnlineJob& job, const PartyOptions& options = {},
                     bool expect_done = true);

// Expects that a party, or each, has exactly its outputs, and that they are correct.
void expect_outputs_of(Party party, const CircuitInfo& info, const Evaluation& evaluation,
                       const std::vector<LaneValues>& wanted);
void expect_outputs(const CircuitInfo& info, const Evaluation& a, const Evaluation& b,
                    const std::vector<LaneValues>& wanted);
inline void expect_outputs(const Circuit& circuit, const OnlineRun& run,
                           const std::vector<LaneValues>& wanted) {
  expect_outputs(circuit.info(), run.a, run.b, wanted);
}

}  // namespace tinyot::test
