#include "tinyot/run.h"

#include "base/error.h"
#include "engine/api/state.h"
#include "engine/evaluator.h"
#include "engine/run.h"

namespace tinyot {
namespace {

engine::RunRequest engine_request(const RunRequest& request) {
  return {.party = request.party,
          .endpoint = engine_endpoint(request.endpoint),
          .stores = request.stores,
          .store_key = read_key(request.store_key),
          .ledger = request.ledger,
          .live = request.live};
}

RunResult result_of(const circuit::CircuitInfo& info, engine::RunReport& report) {
  RunResult result;
  result.outputs = output_values(info, std::move(report.result.outputs));
  result.ands = report.result.ands;
  result.xors = report.result.xors;
  result.and_rounds = report.result.and_rounds;
  result.burnt = report.burnt;
  result.wall_s = report.wall_s;
  result.phases = std::move(report.phases);
  return result;
}

}  // namespace

RunResult run(const RunRequest& request, const circuit::Circuit& circuit, const Values& inputs,
              std::size_t lanes, const std::stop_token& cancel) {
  const circuit::CircuitInfo& info = circuit.info();
  for (const circuit::InputBundle& bundle : info.inputs)
    if (!bundle.owner)
      throw UsageError("input " + bundle.name +
                       " takes a shared value of an earlier circuit: use an Evaluator");
  const online::BundleValues values = input_values(info, request.party, lanes, inputs);
  const engine::RunRequest job = engine_request(request);
  if (job.live.has_value() != job.stores.empty())
    throw UsageError("a run needs either stores or live parameters, not both");
  engine::RunReport report =
      engine::run(job, engine::LoadedCircuit::borrowed(circuit, lanes), values, cancel);
  return result_of(info, report);
}

std::size_t SharedBits::bits() const { return value_->bits(); }
std::size_t SharedBits::lanes() const { return value_->lanes(); }

struct Evaluator::State {
  State(const RunRequest& request, const std::stop_token& cancel) : party(request.party) {
    evaluator.emplace(engine_request(request), cancel);
  }
  // A failure closes the connection at once: the peer may be waiting.
  engine::RunReport run(const engine::LoadedCircuit& circuit, const online::BundleValues& inputs,
                        const std::vector<engine::Evaluator::Shared>& shared,
                        const std::string& label) {
    try {
      return evaluator->run(circuit, inputs, shared, label);
    } catch (...) {
      evaluator.reset();
      throw;
    }
  }

  Party party;
  std::optional<engine::Evaluator> evaluator;  // empty after a failure
};

Evaluator::Evaluator(const RunRequest& request, const std::stop_token& cancel)
    : state_(new State(request, cancel)) {}
Evaluator::Evaluator(Evaluator&&) noexcept = default;
Evaluator& Evaluator::operator=(Evaluator&&) noexcept = default;
Evaluator::~Evaluator() = default;

RunResult Evaluator::run(const circuit::Circuit& circuit, const Values& inputs,
                         const SharedInputs& shared, std::size_t lanes, const std::string& label) {
  require(state_->evaluator.has_value(), "the connection has ended with an error");
  const circuit::CircuitInfo& info = circuit.info();
  const online::BundleValues values = input_values(info, state_->party, lanes, inputs);
  std::vector<engine::Evaluator::Shared> continued;
  for (const circuit::InputBundle& bundle : info.inputs) {
    continued.emplace_back();
    if (bundle.owner) continue;
    const auto found = shared.find(bundle.name);
    if (found == shared.end())
      throw UsageError("input " + bundle.name + " takes a shared value, but none was given");
    const SharedBits& value = found->second;
    if (value.bits() != bundle.bits || value.lanes() != lanes)
      throw UsageError("input " + bundle.name + " has " + std::to_string(bundle.bits) +
                       " bits in " + std::to_string(lanes) + " lanes; the shared value has " +
                       std::to_string(value.bits()) + " in " + std::to_string(value.lanes()));
    if (!value.origin_.starts_with(state_->evaluator->connection()))
      throw UsageError("input " + bundle.name +
                       " takes a shared value, but the given one belongs to another connection");
    continued.back() = {value.value_.get(), value.origin_};
  }
  const std::string origin = state_->evaluator->connection() + ", circuit " +
                             std::to_string(state_->evaluator->runs()) + ", output ";
  engine::RunReport report =
      state_->run(engine::LoadedCircuit::borrowed(circuit, lanes), values, continued, label);
  RunResult result = result_of(info, report);
  for (std::size_t b = 0; b < info.outputs.size(); ++b) {
    if (!report.result.shared[b]) continue;
    SharedBits& kept = result.shared[info.outputs[b].name];
    kept.value_ = std::make_shared<online::SharedValue>(std::move(*report.result.shared[b]));
    kept.origin_ = origin + info.outputs[b].name;
  }
  return result;
}

}  // namespace tinyot
