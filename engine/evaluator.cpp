#include "engine/evaluator.h"

#include "base/error.h"
#include "base/hex.h"
#include "crypto/random_oracle.h"
#include "engine/run_plan.h"
#include "engine/stored_session.h"

namespace tinyot::engine {
namespace {

constexpr net::MessageTag kRunBegin = net::message_tag("run.begin");
// So many shared values are compared one by one, so that a difference is named.
constexpr std::size_t kNamedMax = 16;

// What the parties compare of values that stay shared.
std::vector<net::Parameter> parameters_of_shared(const circuit::CircuitInfo& info,
                                                 const std::vector<Evaluator::Shared>& shared) {
  std::vector<net::Parameter> parameters;
  for (std::size_t i = 0; i < shared.size(); ++i)
    if (shared[i].value != nullptr)
      parameters.push_back({"the value of " + info.inputs[i].name, shared[i].origin});
  if (parameters.size() <= kNamedMax) return parameters;
  crypto::RandomOracle oracle({}, {"shared values", '*', 0});
  for (const net::Parameter& parameter : parameters)
    for (const std::string* const text : {&parameter.name, &parameter.value})
      oracle.absorb_object(static_cast<std::uint64_t>(text->size()))
          .absorb(std::as_bytes(std::span(*text)));
  const crypto::Digest digest = oracle.digest();
  return {{"the values of " + std::to_string(parameters.size()) + " shared inputs",
           hex_of(std::as_bytes(std::span(digest.bytes)))}};
}

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
  const RunPlan plan(state_->request, circuit);
  std::vector<net::Parameter> parameters = plan.parameters();
  if (!job.empty()) parameters.insert(parameters.begin(), {"job", job});
  for (net::Parameter& parameter : parameters_of_shared(circuit.info(), shared))
    parameters.push_back(std::move(parameter));
  net::require_sendable(parameters);
  state_->has_failed = true;  // until this call succeeds
  StoredSession& stored = state_->stored;
  const bool has_advance = state_->request.advance_ands > 0;
  const MaterialCounts needed = plan.material(stored.form(), plan.ands());
  if (state_->advance.holds(needed))
    stored.require_not_revoked();
  else
    stored.require_material(needed);
  circuit::CircuitRounds rounds = plan.rounds();
  online::SharedInputs values;
  for (const Shared& input : shared) values.push_back(input.value);
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
