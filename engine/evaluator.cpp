#include "engine/evaluator.h"

#include "base/error.h"
#include "engine/run_plan.h"
#include "engine/stored_session.h"

namespace tinyot::engine {
namespace {

constexpr net::MessageTag kRunBegin{0x2201, "run.begin"};

}  // namespace

struct Evaluator::State {
  explicit State(const RunRequest& run_request)
      : request(run_request), stored(request), advance(request.advance_ands) {}

  RunRequest request;
  StoredSession stored;
  Advance advance;
  std::uint64_t runs = 0;
  bool has_failed = false;
};

Evaluator::Evaluator(const RunRequest& request, const std::stop_token& cancel) {
  if (request.live || request.reservation)
    throw UsageError("an evaluator needs stored material that is not reserved");
  require(request.advance_ands == 0 || request.stores.size() == 1,
          "an evaluator reserves in advance from one store only");
  state_ = std::make_unique<State>(request);
  state_->stored.connect(
      {{"command", "evaluator"}, {"reserved in advance", std::to_string(request.advance_ands)}},
      "none", cancel);
}

Evaluator::~Evaluator() = default;

MaterialCounts Evaluator::needed(const LoadedCircuit& circuit) const {
  const RunPlan plan(state_->request, circuit);
  return plan.material(state_->stored.form(), plan.ands());
}

void Evaluator::require_material(const MaterialCounts& needed) {
  state_->stored.require_material(needed);
}

std::string Evaluator::connection() const { return short_name(state_->stored.connection()); }

std::uint64_t Evaluator::runs() const { return state_->runs; }

RunReport Evaluator::run(const LoadedCircuit& circuit, const online::InputValues& inputs,
                         const std::vector<Shared>& shared, const std::string& job) {
  require(!state_->has_failed, "the connection has ended with an error");
  state_->has_failed = true;  // until this call succeeds
  const RunPlan plan(state_->request, circuit);
  StoredSession& stored = state_->stored;
  const bool has_advance = state_->request.advance_ands > 0;
  const MaterialCounts needed = plan.material(stored.form(), plan.ands());
  if (state_->advance.holds(needed))
    stored.require_not_revoked();
  else
    stored.require_material(needed);
  circuit::CircuitRounds rounds = plan.rounds();
  std::vector<net::Parameter> parameters = plan.parameters();
  if (!job.empty()) parameters.insert(parameters.begin(), {"job", job});
  online::SharedInputs values;
  for (std::size_t i = 0; i < shared.size(); ++i) {
    values.push_back(shared[i].value);
    if (shared[i].value != nullptr)
      parameters.push_back({"the value of " + circuit.info().inputs[i].name, shared[i].origin});
  }
  RunReport report;
  stored.with_peer([&](checks::Session& session) {
    net::compare_parameters(session.channel(), kRunBegin, session.me(), parameters);
    report = evaluate_stored(plan, stored, session, rounds, inputs, values,
                             has_advance ? &state_->advance : nullptr);
  });
  add_costs(stored, report);
  report.window = plan.window;
  ++state_->runs;
  state_->has_failed = false;
  return report;
}

}  // namespace tinyot::engine
