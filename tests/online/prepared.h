// A party of a garbled run that is prepared, with material from the ideal dealer.
#pragma once

#include "online/garbled/prepared_run.h"
#include "tests/online/garbling.h"
#include "tests/online/online_run.h"

namespace tinyot::test {

struct PreparedJob {
  const Circuit& circuit;
  std::size_t lanes;
  const Inputs& inputs;
  RowCheck check;
  online::GarbledWindow window = {};
};

// The run and the rounds that it refers to.
class PreparedParty {
 public:
  PreparedParty(Session& session, IdealDealer& dealer, const PreparedJob& job,
                const online::SharedValues& shared = {})
      : party_(session.me()), job_(job), cost_(cost_of(job.circuit)),
        rounds_(job.circuit, cost_.gates(), job.lanes, window_for(job.lanes)),
        run_(session, dealer,
             online::garbled_material_for(job.circuit.info(), cost_.ands_of(job.lanes), job.lanes,
                                          shared),
             rounds_, shared, {job.check, 40}, job.window) {}

  void prepare() { run_.prepare(); }
  Evaluation finish() {
    return run_.finish(values_given_by(party_, job_.circuit.info(), job_.inputs));
  }

 private:
  const Party party_;
  const PreparedJob job_;
  const CircuitCost cost_;
  CircuitRounds rounds_;
  online::PreparedRun run_;
};

}  // namespace tinyot::test
