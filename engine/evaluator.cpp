#include "base/error.h"
#include "base/hex.h"
#include "crypto/random_oracle.h"
#include "engine/bundle_values.h"
#include "engine/run_plan.h"
#include "engine/stored_session.h"

namespace tinyot {
namespace engine {
namespace {

constexpr net::MessageTag kRunBegin = net::message_tag("run.begin");
// So many shared values are compared one by one, so that a difference is named.
constexpr std::size_t kNamedMax = 16;

// What the parties compare of values that stay shared.
std::vector<net::Parameter> parameters_of_shared(const circuit::CircuitInfo& info,
                                                 const std::vector<const SharedBits*>& shared) {
  std::vector<net::Parameter> parameters;
  for (std::size_t i = 0; i < shared.size(); ++i)
    if (shared[i] != nullptr)
      parameters.push_back({"the value of " + info.inputs[i].name, shared[i]->origin()});
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

// The values of the bundles that take one; null for the others.
std::vector<const SharedBits*> shared_values(const circuit::CircuitInfo& info, std::size_t lanes,
                                             const SharedInputs& shared,
                                             const std::string& connection) {
  std::vector<const SharedBits*> values;
  for (const circuit::InputBundle& bundle : info.inputs) {
    values.push_back(nullptr);
    if (bundle.owner) continue;
    const auto found = shared.find(bundle.name);
    if (found == shared.end())
      throw UsageError("input " + bundle.name + " takes a shared value, but none was given");
    const SharedBits& value = found->second;
    if (value.bits() != bundle.bits || value.lanes() != lanes)
      throw UsageError("input " + bundle.name + " has " + std::to_string(bundle.bits) +
                       " bits in " + std::to_string(lanes) + " lanes; the shared value has " +
                       std::to_string(value.bits()) + " in " + std::to_string(value.lanes()));
    if (!value.origin().starts_with(connection))
      throw UsageError("input " + bundle.name +
                       " takes a shared value, but the given one belongs to another connection");
    values.back() = &value;
  }
  return values;
}

}  // namespace
}  // namespace engine

struct Evaluator::State {
  explicit State(const RunRequest& run_request)
      : request(run_request), stored(request), advance(request.advance_ands) {}

  std::string connection() const { return short_name(stored.connection()); }

  RunRequest request;
  engine::StoredSession stored;
  engine::Advance advance;
  std::uint64_t runs = 0;
};

Evaluator::Evaluator(const RunRequest& request, const std::stop_token& cancel) {
  if (request.live || request.reservation || request.stores.empty())
    throw UsageError("an evaluator needs stored material that is not reserved");
  require(request.advance_ands == 0 || request.stores.size() == 1,
          "an evaluator reserves in advance from one store only");
  state_ = std::make_unique<State>(request);
  state_->stored.connect(
      {{"command", "evaluator"}, {"reserved in advance", std::to_string(request.advance_ands)}},
      "none", cancel);
}

Evaluator::Evaluator(Evaluator&&) noexcept = default;
Evaluator& Evaluator::operator=(Evaluator&&) noexcept = default;
Evaluator::~Evaluator() = default;

Evaluator::State& Evaluator::state() const {
  require(state_ != nullptr, "the connection has ended with an error");
  return *state_;
}

MaterialCounts Evaluator::needed(const engine::LoadedCircuit& circuit) const {
  const engine::RunPlan plan(state().request, circuit);
  return plan.material(state().stored.form(), plan.ands());
}

void Evaluator::require_material(const MaterialCounts& needed) {
  state().stored.require_material(needed);
}

RunResult Evaluator::run(const circuit::Circuit& circuit, const Values& inputs,
                         const SharedInputs& shared, std::size_t lanes, const std::string& label) {
  engine::check_lanes(lanes);
  return run(engine::LoadedCircuit::borrowed(circuit, lanes), inputs, shared, label);
}

RunResult Evaluator::run(const engine::LoadedCircuit& circuit, const Values& inputs,
                         const SharedInputs& shared, const std::string& label) {
  const circuit::CircuitInfo& info = circuit.info();
  const online::BundleValues values =
      engine::input_values(info, state().request.party, circuit.lanes(), inputs);
  const std::vector<const SharedBits*> given =
      engine::shared_values(info, circuit.lanes(), shared, state().connection());
  const engine::RunPlan plan(state().request, circuit);
  std::vector<net::Parameter> parameters = plan.parameters();
  if (!label.empty()) parameters.insert(parameters.begin(), {"job", label});
  for (net::Parameter& parameter : engine::parameters_of_shared(info, given))
    parameters.push_back(std::move(parameter));
  net::require_sendable(parameters);
  online::SharedValues continued;
  for (const SharedBits* const value : given)
    continued.push_back(value != nullptr ? value->value().get() : nullptr);

  // A failure from here on closes the connection at once: the peer may be waiting.
  std::unique_ptr<State> state = std::move(state_);
  engine::StoredSession& stored = state->stored;
  const bool has_advance = state->request.advance_ands > 0;
  const MaterialCounts needed = plan.material(stored.form(), plan.ands());
  if (state->advance.holds(needed))
    stored.require_not_revoked();
  else
    stored.require_material(needed);
  circuit::CircuitRounds rounds = plan.rounds();
  const std::string origin =
      state->connection() + ", circuit " + std::to_string(state->runs) + ", output ";
  RunResult result;
  stored.with_peer([&](checks::Session& session) {
    net::compare_parameters(session.channel(), engine::kRunBegin, session.me(), parameters);
    result = engine::evaluate_stored(plan, stored, session, rounds, {values, continued},
                                     has_advance ? &state->advance : nullptr, origin);
  });
  engine::add_costs(stored, result);
  result.window = plan.window;
  ++state->runs;
  state_ = std::move(state);
  return result;
}

}  // namespace tinyot
