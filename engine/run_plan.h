// What runs have in common. Internal to this folder.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "circuitgen/circuit_rounds.h"
#include "engine/loaded_circuit.h"
#include "engine/phase_choice.h"
#include "engine/run_inputs.h"
#include "net/handshake.h"
#include "online/online_phase.h"
#include "tinyot/run.h"

namespace tinyot::engine {

struct RunPlan {
  // `form` is that of the material; `phase` comes before that of the request. Fails: UsageError if
  // the requested phase does not run on the material, or not a circuit of this size.
  RunPlan(const RunRequest& run_request, const LoadedCircuit& run_circuit, AndMaterial form,
          online::SharedValues shared_values = {}, std::optional<OnlinePhase> phase = {});

  // The inputs come later, on material of this sigma. Fails: UsageError if the phase that was asked
  // for cannot prepare the run.
  void set_inputs_later(std::uint32_t sigma);

  const RunRequest& request;
  const LoadedCircuit& circuit;
  AndMaterial form;
  PhaseChoice choice;
  online::SharedValues shared;

  // How the phase prepares the run; absent if the inputs are known. Fails: UsageError if the phase
  // cannot run it, or not prepare it.
  std::optional<online::Preparation> preparation_by(const online::OnlinePhaseEntry& phase) const;
  bool can_be_prepared_by(const online::OnlinePhaseEntry& phase) const;

  // Role: A, before the choice: as PhaseChoice::estimate, of the run as it is prepared.
  void estimate(circuit::CircuitRounds& layered);

  // Role: both. Chooses phase and window, as far as they are open (engine/phase_choice.h,
  // engine/window_choice.h).
  void choose(net::Channel& channel, Party me, net::LinkShape& link,
              const PhaseChoice::CanHave& can_have);
  // Before the choice, the default of the first phase that is possible.
  std::size_t window() const;
  // The most that a possible phase takes.
  std::uint64_t ands() const;
  std::uint64_t ands_by(const online::OnlinePhaseEntry& phase) const {
    return online::ands_for(phase, circuit.cost(), circuit.lanes());
  }
  // Layers a small circuit. Fails: as its generation.
  circuit::CircuitRounds rounds() const { return circuit.rounds(window(), groups()); }
  // What suffices for each possible phase.
  MaterialCounts material() const;
  online::RunProgress progress() const {
    if (!request.progress) return {};
    return [report = request.progress, total = ands()](std::uint64_t done) { report(done, total); };
  }
  // What both parties must agree on, for any material; then `others`.
  std::vector<net::Parameter> parameters(const std::vector<net::Parameter>& others = {}) const;

  // Layers the circuit again if the chosen phase has another window, or evaluates groups otherwise.
  void begin(std::optional<circuit::CircuitRounds>& layered);
  // After the run: its window and phase.
  void describe(RunResult& result) const;

 private:
  // Before the choice, of the first phase that is possible.
  circuit::GroupsAs groups() const { return choice.possible().front()->groups; }

  std::optional<std::uint32_t> later_on_sigma_;
  std::optional<std::size_t> window_;  // as chosen
};

// Sets what the online phase returns. Values that stay shared are kept, with the name of the output
// after `origin`, unless that is empty.
void set_evaluation(RunResult& result, const circuit::CircuitInfo& info,
                    online::Evaluation evaluation, const std::string& origin = {});

RunResult run_stored(const RunRequest& request, const LoadedCircuit& circuit,
                     const RunInputs& inputs, const std::stop_token& cancel);
RunResult run_live(const RunRequest& request, const LoadedCircuit& circuit, const RunInputs& inputs,
                   const std::stop_token& cancel);

}  // namespace tinyot::engine
