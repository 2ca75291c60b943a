// Live runs: the offline phase runs concurrently with the online phase.
#include <atomic>
#include <thread>

#include "base/cause.h"
#include "base/error.h"
#include "base/hex.h"
#include "engine/base_ot_choice.h"
#include "engine/connection.h"
#include "engine/link_fit.h"
#include "engine/plan.h"
#include "engine/run_estimate.h"
#include "engine/run_plan.h"
#include "engine/store_info.h"
#include "engine/top_up.h"
#include "material/pipe.h"
#include "offline/unit/preprocessor.h"

namespace tinyot::engine {
namespace {

// at most, unless the inputs then need more than kUnitsWithInputs units
constexpr std::uint64_t kInputsOfUnit = std::uint64_t{1} << 20;
constexpr std::uint64_t kUnitsWithInputs = 64;
// for a circuit whose gates have not been counted
constexpr std::uint64_t kLiveUnitsMax = std::uint64_t{1} << 20;
constexpr std::uint64_t kMakerConnection = 1;
// time to read the peer's abort, or to send ours
constexpr auto kGrace = std::chrono::seconds(1);

// The units that make a run's material. The gates of a large circuit may not have been counted:
// full units are made until the run ends. Inputs come first in a circuit, so their bits come with
// the first units.
class LivePlan {
 public:
  LivePlan(const RunPlan& plan, const offline::SecurityParameters& params) {
    const auto* const known = plan.circuit.small_cost();
    // The parties make the same units, whatever the phase will be.
    wanted = material_of_run(plan.circuit, known, kLiveUnitsMax * params.unit(), plan.form);
    const Demand demand = demand_for(wanted, plan.form);
    std::uint64_t inputs = demand.inputs;
    const std::vector<UnitPlan> plans = params.plan(std::max<std::uint64_t>(demand.ands, 1));
    const std::uint64_t units_with_inputs = std::min<std::uint64_t>(plans.size(), kUnitsWithInputs);
    const std::uint64_t most =
        std::max(kInputsOfUnit, (inputs + units_with_inputs - 1) / units_with_inputs);
    for (const UnitPlan& unit : plans) {
      requests.push_back({unit, std::min(inputs, most)});
      inputs -= requests.back().inputs;
      estimated_ands += requests.size() == 1 || known ? unit.ands : 0;
    }
  }

  std::vector<offline::UnitRequest> requests;
  MaterialCounts wanted;
  // for the reported security: all units but the last are alike
  std::uint64_t estimated_ands = 0;
};

// Makes the material on its own thread, which calls `failed` if this fails.
class Maker {
 public:
  Maker(checks::Session& session, const offline::SecurityParameters& params,
        offline::PipelineDepth depth, std::vector<offline::UnitRequest> requests,
        material::Pipe& pipe, std::function<void()> failed)
      : session_(session), params_(params), depth_(depth), requests_(std::move(requests)),
        pipe_(pipe), failed_(std::move(failed)), thread_([this] { work(); }) {}
  ~Maker() { join(); }

  // No further unit is begun once both parties have called this.
  void finish() { finished_ = true; }
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  // After join().
  std::exception_ptr failure() const { return failure_; }
  std::size_t made() const { return made_; }

 private:
  void work() {
    try {
      offline::Preprocessor preprocessor(session_, params_, {}, depth_);
      made_ = preprocessor.make_units(requests_, pipe_, [this] { return !finished_; });
      session_.channel().flush();
      pipe_.end(std::make_exception_ptr(
          OutOfMaterial("the circuit needs more material than was counted")));
    } catch (...) {
      failure_ = std::current_exception();
      pipe_.end(failure_);
      failed_();
    }
  }

  checks::Session& session_;
  const offline::SecurityParameters& params_;
  offline::PipelineDepth depth_;
  std::vector<offline::UnitRequest> requests_;
  material::Pipe& pipe_;
  std::function<void()> failed_;
  std::atomic<bool> finished_ = false;
  std::exception_ptr failure_;
  std::size_t made_ = 0;
  std::thread thread_;
};

class LiveRun {
 public:
  LiveRun(RunPlan& plan, const offline::SecurityParameters& params, const RunInputs& inputs)
      : plan_(plan), params_(params), inputs_(inputs), live_(plan, params), fitted_(params) {
    security_ = security_of(params, estimate_job(params, live_.estimated_ands, 0, 1));
  }

  RunResult run(const std::stop_token& cancel) {
    std::vector<net::Parameter> parameters = plan_.parameters(inputs_.compared);
    for (net::Parameter& parameter : parameters_of(params_, security_))
      parameters.push_back(std::move(parameter));
    net::require_sendable(parameters);
    Connector connector(plan_.request.endpoint, cancel);
    std::optional<circuit::CircuitRounds> rounds(plan_.rounds());
    if (plan_.request.party == Party::A) plan_.estimate(*rounds);
    const auto channel = connector.open();
    const CancelsWaits guard(cancel, *channel);
    crypto::Rng rng = crypto::Rng::from_system();
    checks::Agreement agreement;
    const checks::SessionIds ids = checks::establish_session(
        *channel, rng, plan_.request.party, std::move(parameters), std::nullopt, &agreement);
    const ScopedSecret<Delta> key(
        offline::draw_global_key(rng, plan_.request.party, params_.profile(), params_.material()));
    offline::PipelineDepth depth;
    within_session({}, *channel, [&] {
      plan_.choice.accept(agreement);
      net::LinkShape link{agreement.round_trip, 0};
      plan_.choose(*channel, plan_.request.party, link, [](const auto&) { return true; });
      depth = offline::PipelineDepth(latency_of(*channel));
      fitted_ = fitted_to_link(params_, live_.estimated_ands, 1, plan_.request.party, *channel);
    });
    plan_.begin(rounds);
    const auto makers_channel = connector.open_worker(ids, plan_.request.party, kMakerConnection);
    const CancelsWaits makers_guard(cancel, *makers_channel);

    net::PhaseLog log, makers_log;
    checks::Session session(plan_.request.party, ids, key, *channel, std::move(rng), log,
                            Revocations{}, agreed_base_ot(agreement));
    checks::Session makers_session(session, "live material", 0, *makers_channel, makers_log);
    const auto start = std::chrono::steady_clock::now();
    RunResult evaluation = evaluate(session, makers_session, depth, *rounds);
    evaluation.wall_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    plan_.describe(evaluation);
    evaluation.session = hex_of(ids.session);
    evaluation.base_ot = session.base_ot();
    evaluation.security =
        security_reached(security_, units_of(std::span(live_.requests).first(made_)));
    evaluation.security.own = fitted_.own();
    log.add(makers_log);
    evaluation.phases = log.phases();
    return evaluation;
  }

 private:
  // If one of the two threads fails, the other one is woken; the cause is reported, not its
  // consequences.
  RunResult evaluate(checks::Session& session, checks::Session& makers_session,
                     offline::PipelineDepth depth, circuit::CircuitRounds& rounds) {
    material::Pipe pipe(session.me());
    Maker maker(makers_session, fitted_, depth, live_.requests, pipe,
                [&] { session.channel().set_deadline(std::chrono::steady_clock::now() + kGrace); });
    RunResult evaluation;
    std::exception_ptr failure;
    try {
      const auto online_evaluation = plan_.choice.phase().make({.session = session,
                                                                .source = pipe,
                                                                .wanted = live_.wanted,
                                                                .form = plan_.form,
                                                                .rounds = rounds,
                                                                .progress = plan_.progress()});
      online_evaluation->prepare();
      set_evaluation(evaluation, plan_.circuit.info(), online_evaluation->finish(inputs_.values));
      session.channel().flush();
      maker.finish();
      pipe.drain();
    } catch (...) {
      failure = std::current_exception();
      pipe.end(failure);
      makers_session.channel().set_deadline(std::chrono::steady_clock::now() + kGrace);
    }
    maker.join();
    failure = root_cause(failure, maker.failure());
    made_ = maker.made();
    if (!failure) return evaluation;
    if (cause_of(failure) == Cause::Cheated) {
      for (checks::Session* each : {&session, &makers_session}) {
        each->channel().set_deadline(std::chrono::steady_clock::now() + kGrace);
        each->channel().send_abort();
      }
    }
    std::rethrow_exception(failure);
  }

  RunPlan& plan_;
  const offline::SecurityParameters& params_;
  const RunInputs& inputs_;
  LivePlan live_;
  offline::SecurityParameters fitted_;  // to the link
  storage::Manifest security_;
  std::size_t made_ = 0;  // units
};

}  // namespace

RunResult run_live(const RunRequest& request, const LoadedCircuit& circuit, const RunInputs& inputs,
                   const std::stop_token& cancel) {
  ParameterRequest live = *request.live;
  offline::require_in_use(live);
  if (!live.unit && !live.bucket) live.unit = offline::entry_of(live.profile).live_unit;
  // The run ends with the first unit that is broken off.
  const offline::SecurityParameters params = offline::SecurityParameters::make_without_spare(live);
  RunPlan plan(request, circuit, params.material());
  return unless_cancelled(cancel, [&] { return LiveRun(plan, params, inputs).run(cancel); });
}

}  // namespace tinyot::engine
