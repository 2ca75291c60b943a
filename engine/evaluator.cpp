#include <bit>
#include <map>

#include "base/error.h"
#include "checks/coin_toss.h"
#include "engine/bundle_values.h"
#include "engine/stored_run.h"

namespace tinyot {
namespace {

constexpr net::MessageTag kRunBegin = net::message_tag("run.begin");
constexpr net::MessageTag kTold = net::message_tag("run.told");

// Every call begins with the same message, so that calls that differ are a disagreement. What the
// peer leaves open has been taken over when the parties connected.
std::vector<net::Parameter> parameters_of(const std::string& call, const std::string& label,
                                          std::vector<net::Parameter> parameters) {
  for (net::Parameter& parameter : parameters) parameter.is_open = false;
  if (!label.empty()) parameters.insert(parameters.begin(), {"job", label});
  parameters.insert(parameters.begin(), {"call", call});
  net::require_sendable(parameters);
  return parameters;
}

void compare_calls(checks::Session& session, const std::vector<net::Parameter>& parameters) {
  net::compare_parameters(session.channel(), kRunBegin, session.me(), parameters);
}

}  // namespace

struct Evaluator::State {
  explicit State(const RunRequest& run_request)
      : request(run_request), stored(request), advance(request.reserve_ahead_ands) {}

  std::string connection() const { return short_name(stored.connection()); }

  std::unique_ptr<engine::StoredRun> new_run(const circuit::Circuit& circuit,
                                             const SharedInputs& shared, std::size_t lanes,
                                             std::optional<OnlinePhase> phase) {
    engine::check_lanes(lanes);
    return std::make_unique<engine::StoredRun>(
        request, engine::LoadedCircuit::borrowed(circuit, lanes), stored,
        engine::run_shared(circuit.info(), lanes, shared, connection()), phase);
  }

  // Within the session; the first compares the parties' calls.
  static void begin(checks::Session& session, engine::StoredRun& run,
                    const std::vector<net::Parameter>& parameters, engine::ReservationCache* from) {
    compare_calls(session, parameters);
    run.prepare(session, from);
  }
  RunResult finish(
      engine::StoredRun& run, const engine::RunInputs& inputs,
      const std::function<void()>& agree = [] {}) {
    return run.finish(inputs, connection() + ", circuit " + std::to_string(runs++) + ", output ",
                      agree);
  }

  RunRequest request;
  engine::StoredSession stored;
  engine::ReservationCache advance;
  std::uint64_t runs = 0;                                               // that have been evaluated
  std::uint64_t prepared = 0;                                           // the last number
  std::map<std::uint64_t, std::unique_ptr<engine::StoredRun>> waiting;  // prepared runs
  std::unique_ptr<engine::StoredRun> current;
};

Evaluator::Evaluator(const RunRequest& request, const std::stop_token& cancel) {
  if (request.live || request.reservation || request.stores.empty())
    throw UsageError("an evaluator needs stored material that is not reserved");
  require(request.reserve_ahead_ands == 0 || request.stores.size() == 1,
          "an evaluator reserves in advance from one store only");
  state_ = std::make_unique<State>(request);
  state_->stored.connect({{"command", "evaluator"},
                          {"reserved in advance", std::to_string(request.reserve_ahead_ands)},
                          engine::PhaseChoice(state_->stored.form(), request.phase).parameter()},
                         "none", cancel);
}

Evaluator::Evaluator(Evaluator&&) noexcept = default;
Evaluator& Evaluator::operator=(Evaluator&&) noexcept = default;
Evaluator::~Evaluator() = default;

// A failure of the step ends the state, and so closes the connection at once: the peer may be
// waiting.
template <class Step>
void Evaluator::take_step(Step step) {
  std::unique_ptr<State> taken = std::move(state_);
  try {
    step(*taken);
  } catch (...) {
    spent_ = taken->stored.spent();
    throw;
  }
  state_ = std::move(taken);
}

MaterialCounts Evaluator::spent() const { return state_ ? state_->stored.spent() : spent_; }

Evaluator::State& Evaluator::state() const {
  require(state_ != nullptr, "the connection has ended with an error");
  return *state_;
}

MaterialCounts Evaluator::needed(const circuit::Circuit& circuit, std::size_t lanes,
                                 const SharedInputs& shared) const {
  engine::check_lanes(lanes);
  const auto loaded = engine::LoadedCircuit::borrowed(circuit, lanes);
  online::SharedValues values;
  if (!shared.empty())
    values = engine::run_shared(circuit.info(), lanes, shared, state().connection()).values;
  engine::RunPlan plan(state().request, loaded, state().stored.form(), std::move(values));
  plan.choice.accept(state().stored.agreement());
  return plan.material();
}

std::vector<PhaseCost> Evaluator::phases() const { return state().stored.log().phases(); }

bool Evaluator::is_connected() const { return state_ != nullptr && !state_->stored.has_ended(); }

void Evaluator::require_material(const MaterialCounts& needed) {
  state().stored.require_material(needed);
}

RunResult Evaluator::run(const circuit::Circuit& circuit, const Values& inputs,
                         const SharedInputs& shared, std::size_t lanes, const std::string& label,
                         std::optional<OnlinePhase> phase) {
  const engine::RunInputs given =
      engine::run_inputs(circuit.info(), state().request.party, lanes, inputs);
  auto run = state().new_run(circuit, shared, lanes, phase);
  const auto parameters = parameters_of("run", label, run->parameters(given.compared));
  RunResult result;
  take_step([&](State& state) {
    state.current = std::move(run);
    engine::ReservationCache* const from =
        state.request.reserve_ahead_ands > 0 ? &state.advance : nullptr;
    state.current->require_material(from);
    state.current->layer();
    state.stored.with_peer([&](checks::Session& session) {
      State::begin(session, *state.current, parameters, from);
      result = state.finish(*state.current, given);
    });
    state.current.reset();
    engine::add_costs(state.stored, result);
  });
  return result;
}

std::uint64_t Evaluator::prepare(const circuit::Circuit& circuit, const SharedInputs& shared,
                                 std::size_t lanes, const std::string& label,
                                 std::optional<OnlinePhase> phase) {
  auto run = state().new_run(circuit, shared, lanes, phase);
  run->set_inputs_later();
  const auto parameters = parameters_of("prepare", label, run->parameters());
  std::uint64_t number = 0;
  take_step([&](State& state) {
    number = ++state.prepared;
    engine::StoredRun& prepared = *state.waiting.emplace(number, std::move(run)).first->second;
    prepared.require_material(nullptr);
    prepared.layer();
    state.stored.with_peer(
        [&](checks::Session& session) { State::begin(session, prepared, parameters, nullptr); });
  });
  return number;
}

RunResult Evaluator::finish(std::uint64_t prepared, const Values& inputs) {
  const auto found = state().waiting.find(prepared);
  if (found == state().waiting.end())
    throw UsageError("there is no prepared run " + std::to_string(prepared) +
                     ", or it has been finished");
  const engine::LoadedCircuit& circuit = found->second->plan().circuit;
  const engine::RunInputs given =
      engine::run_inputs(circuit.info(), state().request.party, circuit.lanes(), inputs);
  auto compared = given.compared;
  compared.insert(compared.begin(), {"prepared run", std::to_string(prepared)});
  const auto parameters = parameters_of("finish", {}, std::move(compared));
  RunResult result;
  take_step([&](State& state) {
    state.current = std::move(found->second);
    state.waiting.erase(found);
    state.stored.require_not_revoked();
    state.stored.with_peer([&](checks::Session& session) {
      // The peer's call is received after the masked inputs have been sent: it takes no time of
      // its own.
      net::ParameterComparison calls(session.channel(), kRunBegin, session.me(), parameters);
      result = state.finish(*state.current, given, [&] { calls.finish(); });
    });
    state.current.reset();
    engine::add_costs(state.stored, result);
  });
  return result;
}

std::array<std::byte, 32> Evaluator::toss_coins(const std::string& purpose) {
  const auto parameters = parameters_of("toss", purpose, {});
  std::array<std::byte, 32> coins{};
  take_step([&](State& state) {
    state.stored.require_not_revoked();
    state.stored.with_peer([&](checks::Session& session) {
      compare_calls(session, parameters);
      coins = std::bit_cast<decltype(coins)>(checks::toss_coins(session, purpose));
    });
  });
  return coins;
}

std::vector<std::byte> Evaluator::exchange(const std::string& label,
                                           std::span<const std::byte> mine) {
  require(mine.size() <= kToldBytesMax, "what is told has at most 65536 bytes");
  const auto parameters = parameters_of("exchange", label, {});
  std::vector<std::byte> theirs;
  take_step([&](State& state) {
    state.stored.require_not_revoked();
    state.stored.with_peer([&](checks::Session& session) {
      compare_calls(session, parameters);
      session.channel().send(kTold, mine);
      theirs = session.channel().recv_variable(kTold, kToldBytesMax);
    });
  });
  return theirs;
}

}  // namespace tinyot
