#include "tests/online/online_run.h"

#include <algorithm>

#include "online/masked/masked_run.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

void expect_equal(const BitVector& got, const BitVector& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  if (std::ranges::equal(got.words(), wanted.words())) return;
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], wanted[i]) << "bit " << i;
}

}  // namespace

Inputs random_inputs(const Circuit& circuit, std::size_t lanes, Rng& rng) {
  Inputs inputs;
  for (const InputBundle& bundle : circuit.info().inputs) {
    LaneValues values;
    for (std::size_t lane = 0; lane < (bundle.same_in_all_lanes ? 1 : lanes); ++lane)
      values.push_back(rng.bits(bundle.bits));
    inputs.push_back(std::move(values));
  }
  return inputs;
}

Evaluation run_party(Session& session, material::Source& material, const OnlineJob& job,
                     const SharedValues& shared) {
  BundleValues mine(job.inputs.size());
  for (std::size_t b = 0; b < mine.size(); ++b)
    if (gives(job.circuit.info().inputs[b].source, session.me()))
      mine[b] = matrix_of(job.inputs[b]);
  const CircuitCost cost = cost_of(job.circuit);
  CircuitRounds rounds(job.circuit, cost.gates(), job.lanes,
                       job.window == 0 ? window_for(job.lanes) : job.window,
                       {.layered = job.layered, .keep = {}}, groups_of(job));
  const std::uint64_t ands =
      groups_of(job) == GroupsAs::Gates ? cost.ands_of(job.lanes) : cost.products_of(job.lanes);
  const MaterialCounts wanted = material_for(job.circuit.info(), ands, job.form, job.lanes);
  if (job.masks == OnlineJob::Masks::None)
    return run_circuit(session, material, wanted, job.form, rounds, mine, shared);
  online::MaskedRun run(session, material, wanted, rounds, shared, job.atoms_max);
  if (job.masks == OnlineJob::Masks::Prepared) run.prepare();
  return run.finish(mine, {}, [] {});
}

IdealDealer dealer_of(const Session& session, std::uint64_t seed) {
  return {session.me(), seed, global_key_of(Party::A, seed), global_key_of(Party::B, seed)};
}

OnlineRun run_online(const OnlineJob& job, const PartyOptions& options, bool expect_done) {
  OnlineRun run;
  run.outcomes = run_sessions(
      [&](Session& session) {
        IdealDealer dealer = dealer_of(session, options.seed);
        Evaluation result = run_party(session, dealer, job);
        (session.me() == Party::A ? run.a : run.b) = std::move(result);
        (session.me() == Party::A ? run.dealt_a : run.dealt_b) = dealer.dealt;
      },
      options, expect_done);
  return run;
}

void expect_outputs_of(Party party, const CircuitInfo& info, const Evaluation& evaluation,
                       const std::vector<LaneValues>& wanted) {
  const auto& outputs = evaluation.outputs;
  ASSERT_EQ(outputs.size(), wanted.size());
  for (std::size_t bundle = 0; bundle < wanted.size(); ++bundle) {
    ASSERT_EQ(outputs[bundle].has_value(), receives(info.outputs[bundle].to, party));
    if (!outputs[bundle]) continue;
    const LaneValues got = values_of(*outputs[bundle]);
    ASSERT_EQ(got.size(), wanted[bundle].size());
    for (std::size_t lane = 0; lane < got.size(); ++lane)
      expect_equal(got[lane], wanted[bundle][lane]);
  }
}

void expect_outputs(const CircuitInfo& info, const Evaluation& a, const Evaluation& b,
                    const std::vector<LaneValues>& wanted) {
  expect_outputs_of(Party::A, info, a, wanted);
  expect_outputs_of(Party::B, info, b, wanted);
}

}  // namespace tinyot::test
