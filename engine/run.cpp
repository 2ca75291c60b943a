#include "tinyot/run.h"

#include <algorithm>

#include "base/error.h"
#include "engine/bundle_values.h"
#include "engine/run_plan.h"
#include "engine/window_choice.h"

namespace tinyot {
namespace engine {

RunPlan::RunPlan(const RunRequest& run_request, const LoadedCircuit& run_circuit, AndMaterial of,
                 online::SharedValues shared_values, std::optional<OnlinePhase> phase)
    : request(run_request), circuit(run_circuit), form(of),
      choice(of, phase ? phase : run_request.phase), shared(std::move(shared_values)) {
  if (!choice.is_open()) (void)preparation_by(choice.phase());
}

void RunPlan::set_inputs_later(std::uint32_t sigma) {
  later_on_sigma_ = sigma;
  choice.set_inputs_later();
  if (!choice.is_open()) (void)preparation_by(choice.phase());
}

std::optional<online::Preparation> RunPlan::preparation_by(
    const online::OnlinePhaseEntry& phase) const {
  const auto size = [&] {
    return online::size_of_run(circuit.info(), circuit.cost(), circuit.lanes());
  };
  if (phase.require_size != nullptr) phase.require_size(size());
  if (!later_on_sigma_) return std::nullopt;
  return phase.preparation_for(size(), *later_on_sigma_, request.row_check);
}

bool RunPlan::can_be_prepared_by(const online::OnlinePhaseEntry& phase) const try {
  (void)preparation_by(phase);
  return true;
} catch (const UsageError&) {
  return false;
}

void RunPlan::estimate(circuit::CircuitRounds& layered) {
  choice.estimate(circuit, layered, [this](const online::OnlinePhaseEntry& phase) {
    return can_be_prepared_by(phase) ? preparation_by(phase) : std::nullopt;
  });
}

void RunPlan::choose(net::Channel& channel, Party me, net::LinkShape& link,
                     const PhaseChoice::CanHave& can_have) {
  choice.choose(channel, me, link, can_have);
  (void)preparation_by(choice.phase());
  if (!request.window)
    window_ = choose_window(channel, me, circuit, choice.phase(), form, link.rtt);
}

std::size_t RunPlan::window() const {
  if (request.window) return *request.window;
  return window_ ? *window_ : choice.possible().front()->windows_for(circuit.lanes()).front();
}

std::uint64_t RunPlan::ands() const {
  std::uint64_t most = 0;
  for (const online::OnlinePhaseEntry* phase : choice.possible())
    most = std::max(most, ands_by(*phase));
  return most;
}

MaterialCounts RunPlan::material() const {
  MaterialCounts counts;
  for (const online::OnlinePhaseEntry* phase : choice.possible())
    counts.raise_to(
        phase->material_for(circuit.info(), ands_by(*phase), form, circuit.lanes(), shared));
  return counts;
}

std::vector<net::Parameter> RunPlan::parameters(const std::vector<net::Parameter>& others) const {
  std::vector<net::Parameter> all = {
      {"command", request.live ? "live run" : "run"},
      {"the circuit's inputs and outputs (names, widths, sources, receivers, formats)",
       text_of(circuit.interface_fingerprint()), circuit.shown()},
      {"the circuit's gates", text_of(circuit.fingerprint()), circuit.shown()},
      {"lanes", std::to_string(circuit.lanes())},
      choice.parameter(),
      {"window", request.window ? std::to_string(*request.window) : "the default"},
      {"inputs", later_on_sigma_ ? "later" : "now"}};
  if (later_on_sigma_)
    all.push_back({"row check",
                   request.row_check ? std::string(name_of(*request.row_check)) : "the default"});
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

void RunPlan::begin(std::optional<circuit::CircuitRounds>& layered) {
  if (!layered->are_same_with(window()) || layered->groups() != circuit.layered_as(groups()))
    layered.emplace(rounds());
}

void RunPlan::describe(RunResult& result) const {
  result.window = window();
  choice.describe(result);
}

void set_evaluation(RunResult& result, const circuit::CircuitInfo& info,
                    online::Evaluation evaluation, const std::string& origin) {
  result.outputs = output_values(info, std::move(evaluation.outputs));
  for (std::size_t b = 0; b < evaluation.shared.size() && !origin.empty(); ++b) {
    if (!evaluation.shared[b]) continue;
    const std::string& name = info.outputs[b].name;
    auto value = std::make_shared<const online::SharedValue>(std::move(*evaluation.shared[b]));
    result.shared.insert_or_assign(name, SharedBits(std::move(value), origin + name));
  }
  result.half_round_trips = evaluation.half_round_trips;
  result.ands = evaluation.ands;
  result.xors = evaluation.xors;
  result.and_rounds = evaluation.and_rounds;
  result.wire_wait_s = evaluation.wire_s;
  result.store_wait_s = evaluation.store_s;
  result.opening_s = evaluation.opening_s;
  result.blocks_s = evaluation.blocks_s;
}

}  // namespace engine

RunResult run(const RunRequest& request, const circuit::Circuit& circuit, const Values& inputs,
              std::size_t lanes, const std::stop_token& cancel) {
  engine::check_lanes(lanes);
  for (const circuit::InputBundle& bundle : circuit.info().inputs)
    if (bundle.source == circuit::InputSource::Shared)
      throw UsageError("input " + bundle.name +
                       " takes a shared value of an earlier circuit: use one connection of the "
                       "library for both (Evaluator in C++, Party.connect in Python)");
  const engine::RunInputs given = engine::run_inputs(circuit.info(), request.party, lanes, inputs);
  if (request.live.has_value() != request.stores.empty())
    throw UsageError(request.live ? "a run has stores or live parameters, not both"
                                  : "a run needs stores, or live parameters to make its material");
  if (request.live && request.reservation)
    throw UsageError("a run with live parameters has no store to take a reservation from");
  if (request.reservation && request.stores.size() != 1)
    throw UsageError("a reservation is of one store");
  const auto loaded = engine::LoadedCircuit::borrowed(circuit, lanes);
  return request.live ? engine::run_live(request, loaded, given, cancel)
                      : engine::run_stored(request, loaded, given, cancel);
}

SharedBits::SharedBits(std::shared_ptr<const online::SharedValue> value, std::string origin)
    : value_(std::move(value)), origin_(std::move(origin)) {}

std::size_t SharedBits::bits() const { return value_->bits(); }
std::size_t SharedBits::lanes() const { return value_->lanes(); }
LaneMatrix SharedBits::my_share() const { return value_->my_share(); }

}  // namespace tinyot
