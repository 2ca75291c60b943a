// The choice of the online phase of a run: by a request, by the material, or by party A, which
// expects one to be the fastest (doc/protocol.md, section 16.7).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "checks/session.h"
#include "engine/loaded_circuit.h"
#include "engine/run_estimate.h"
#include "net/shaped_link.h"
#include "online/online_phase.h"
#include "tinyot/run.h"

namespace tinyot::engine {

// The time that a run is expected to take. A link without a rate is taken for one of 1 Gbit/s.
double expected_s(const RunEstimate& estimate, std::size_t lanes, const net::LinkShape& link);

class PhaseChoice {
 public:
  // Fails: UsageError if the requested phase does not run on the material.
  PhaseChoice(AndMaterial form, std::optional<OnlinePhase> requested);

  // Then A may choose a phase that is only chosen for such a run.
  void set_inputs_later() { are_inputs_later_ = true; }

  // In the order of the table; one once the choice is made.
  const std::vector<const online::OnlinePhaseEntry*>& possible() const { return possible_; }
  bool is_open() const { return eligible().size() > 1; }
  const online::OnlinePhaseEntry& phase() const;

  // What the parties compare: open, if the peer may ask for one of several phases.
  net::Parameter parameter() const;
  // Takes what the peer has requested, if this party has not. Fails: Disagreement if that is not
  // possible.
  void accept(const checks::Agreement& agreement);

  // Role: A, before the run: estimates what is possible; of a run that is prepared, what is left
  // once its inputs are known. A circuit that is large and has not been counted is not estimated;
  // then the first phase is chosen.
  void estimate(const LoadedCircuit& circuit, circuit::CircuitRounds& rounds,
                const PreparationBy& preparation_by = not_prepared);
  // Role: both. A chooses among the phases of which `can_have` is true, and B takes part as told.
  // If the choice depends on the rate of the link, and that is 0, A measures and sets it first.
  // Wire: 8 bytes from A if the choice is open; before it, 8 more and net::measure_rate. Fails:
  // PeerCheated("framing") if A names a phase that is not possible.
  using CanHave = std::function<bool(const online::OnlinePhaseEntry& phase)>;
  void choose(net::Channel& channel, Party me, net::LinkShape& link, const CanHave& can_have);

  void describe(RunResult& result) const;

 private:
  void set(const online::OnlinePhaseEntry& phase, PhaseChosenBy chosen_by);
  // What A may choose; the same at both parties.
  std::vector<const online::OnlinePhaseEntry*> eligible() const;
  const online::OnlinePhaseEntry& follow(net::Channel& channel) const;
  const online::OnlinePhaseEntry& fastest(net::Channel& channel, net::LinkShape& link,
                                          const CanHave& can_have) const;

  AndMaterial form_;
  std::vector<const online::OnlinePhaseEntry*> possible_;
  PhaseChosenBy chosen_by_;
  bool are_inputs_later_ = false;
  std::vector<RunEstimate> estimates_;  // at A
  std::size_t lanes_ = 1;
  std::map<OnlinePhase, double> expected_s_;
};

}  // namespace tinyot::engine
