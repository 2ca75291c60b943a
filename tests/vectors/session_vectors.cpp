#include "tests/vectors/session_vectors.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "base/error.h"
#include "base/lane_bits.h"
#include "circuitgen/evaluate.h"
#include "engine/plan.h"
#include "engine/run_plan.h"
#include "engine/top_up.h"
#include "material/pipe.h"
#include "offline/unit/preprocessor.h"
#include "tests/support/both_parties.h"
#include "tests/vectors/kept_material.h"
#include "tests/vectors/vector_circuit.h"
#include "tinyot/version.h"

namespace tinyot::test {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMain = 0, kMakers = 1;  // connections

// Small units with the buckets that sigma = 40 asks for; two of them where units share something.
struct SessionCase {
  const char* name;
  ParameterRequest material;
  OnlinePhase phase;
  std::size_t lanes;
  bool is_prepared = false;
  std::optional<RowCheck> row_check = {};
};

const std::vector<SessionCase>& session_cases() {
  const auto request = [](Profile profile, std::uint64_t unit, AndMaterial form) {
    ParameterRequest made{.profile = profile, .unit = unit, .material = form};
    made.base_ot = BaseOt::Ristretto;
    // Of nnob12, the defaults with pairs, and fewer columns with triples.
    if (profile == Profile::Nnob12 && form == AndMaterial::Triples)
      made.own = Nnob12Parameters{Columns::Experiment};
    if (profile == Profile::Fast) made.own = FastParameters{.softspoken_k = 2};
    if (profile == Profile::Wan) made.own = WanParameters{.silent_set = LpnSet::B9};
    return made;
  };
  const auto pairs = request(Profile::Nnob12, 48, AndMaterial::AandAot),
             products = request(Profile::Nnob12, 48, AndMaterial::Triples),
             fast = request(Profile::Fast, 256, AndMaterial::Triples),
             garbling = request(Profile::Fast, 512, AndMaterial::Garbling),
             wan = request(Profile::Wan, 256, AndMaterial::Triples),
             wan_garbling = request(Profile::Wan, 512, AndMaterial::Garbling);
  constexpr auto kInteractive = OnlinePhase::Interactive, kGarbled = OnlinePhase::Garbled,
                 kMasked = OnlinePhase::Masked;
  static const std::vector<SessionCase> kCases = {
      {"nnob12", pairs, kInteractive, 9},
      {"nnob12-triples", products, kInteractive, 9},
      {"fast", fast, kInteractive, 70},
      {"fast-masked", fast, kMasked, 70},
      {"fast-garbled", garbling, kGarbled, 70},
      {"fast-prepared-masked", fast, kMasked, 70, true},
      {"fast-prepared-early", garbling, kGarbled, 70, true, RowCheck::Early},
      {"fast-prepared-batched", garbling, kGarbled, 70, true, RowCheck::Batched},
      {"wan", wan, kInteractive, 70},
      {"wan-garbled", wan_garbling, kGarbled, 70}};
  return kCases;
}

template <class Object>
std::string hex_of_object(const Object& object) {
  return hex_of(std::as_bytes(std::span(&object, 1)));
}

Json rows_of(const LaneMatrix& values) {
  Json rows = Json::array();
  for (std::size_t lane = 0; lane < values.lanes(); ++lane)
    rows.push_back(hex_of(values[lane].bytes()));
  return rows;
}

// A session, run by both parties.
class VectorSession {
 public:
  VectorSession(const SessionCase& of, const SessionSeeds& seeds)
      : case_(of), seeds_(seeds), params_(SecurityParameters::make(of.material)),
        circuit_(vector_circuit()), loaded_(LoadedCircuit::borrowed(*circuit_, of.lanes)) {
    Rng rng(seeds.inputs);
    for (const InputBundle& bundle : circuit_->info().inputs) {
      LaneMatrix& values =
          inputs_.emplace_back(bundle.same_in_all_lanes ? 1 : of.lanes, bundle.bits);
      for (std::size_t lane = 0; lane < values.lanes(); ++lane)
        set_lane(values, lane, rng.bits(bundle.bits));
    }
  }

  SessionVector run() {
    PartyRecord records[2] = {PartyRecord(Party::A), PartyRecord(Party::B)};
    std::unique_ptr<Channel> channels[2][2];  // by party and connection
    for (const std::size_t connection : {kMain, kMakers}) {
      MemoryStreams streams = make_memory_streams();
      channels[0][connection] =
          records[0].recorded(connection, make_framed_channel(std::move(streams.a)));
      channels[1][connection] =
          records[1].recorded(connection, make_framed_channel(std::move(streams.b)));
    }
    both([&](Party me) {
      // Destroyed with the party, so that its peer does not wait for it.
      const auto main = std::move(channels[index(me)][kMain]),
                 makers = std::move(channels[index(me)][kMakers]);
      results_[index(me)] = run_party(me, *main, *makers);
    });
    return {describe(), messages_in_order(std::move(records[0]), std::move(records[1])),
            Json{{"A", results_[0]}, {"B", results_[1]}}};
  }

 private:
  static std::size_t index(Party party) { return static_cast<std::size_t>(party); }

  RunRequest request_of(Party me) const {
    RunRequest request;
    request.party = me;
    request.live = case_.material;
    request.phase = case_.phase;
    request.row_check = case_.row_check;
    return request;
  }
  RunPlan plan_of(const RunRequest& request) const {
    RunPlan plan(request, loaded_, params_.material());
    if (case_.is_prepared) plan.set_inputs_later(params_.sigma());
    return plan;
  }
  std::vector<UnitRequest> units_of_session() const {
    const RunRequest request = request_of(Party::A);
    const Demand demand = demand_for(plan_of(request).material(), params_.material());
    std::vector<UnitRequest> units;
    std::uint64_t first = 0;
    for (const UnitPlan& unit : params_.plan(demand.ands)) {
      units.push_back({unit, inputs_of_unit(demand.inputs, demand.ands, first, unit.ands)});
      first += unit.ands;
    }
    return units;
  }
  RunInputs inputs_of(Party me) const {
    Values values;
    for (std::size_t b = 0; b < inputs_.size(); ++b)
      if (gives(circuit_->info().inputs[b].source, me))
        values.set(circuit_->info().inputs[b].name, inputs_[b]);
    return run_inputs(circuit_->info(), me, case_.lanes, values);
  }
  // Public values are compared with the circuit, or later in a run that is prepared before them.
  std::vector<Parameter> parameters_of_party(Party me) const {
    const RunRequest request = request_of(me);
    std::vector<Parameter> parameters = plan_of(request).parameters(
        case_.is_prepared ? std::vector<Parameter>() : inputs_of(me).compared);
    for (Parameter& parameter : engine::parameters_of(params_, security_of(params_, {})))
      parameters.push_back(std::move(parameter));
    return parameters;
  }

  Json run_party(Party me, Channel& main, Channel& makers) {
    Rng rng(seeds_.parties[index(me)]);
    Agreement agreement;
    const SessionIds ids =
        establish_session(main, rng, me, parameters_of_party(me), std::nullopt, &agreement);
    const Delta key = draw_global_key(rng, me, params_.profile(), params_.material());
    const RunRequest request = request_of(me);
    RunPlan plan = plan_of(request);
    plan.choice.accept(agreement);
    join_session(makers, ids, me, kMakers);
    PhaseLog log, makers_log;
    Session session(me, ids, key, main, std::move(rng), log, {}, params_.base_ot());
    Session makers_session(session, "live material", 0, makers, makers_log);

    material::Pipe pipe(me);
    KeptMaterial kept(pipe);
    const std::vector<UnitRequest> units = units_of_session();
    Preprocessor(makers_session, params_).make_units(units, kept);
    makers.flush();
    pipe.end(std::make_exception_ptr(OutOfMaterial("the run needs more than was made")));

    CircuitRounds rounds = plan.rounds();
    const auto run =
        plan.choice.phase().make({.session = session,
                                  .source = pipe,
                                  .wanted = plan.material(),
                                  .form = params_.material(),
                                  .rounds = rounds,
                                  .shared = {},
                                  .preparation = plan.preparation_by(plan.choice.phase()),
                                  .progress = {}});
    run->prepare();
    const BundleValues outputs = run->finish(inputs_of(me).values).outputs;
    main.flush();
    check_outputs(me, outputs);

    Json shown = Json::object();
    for (std::size_t b = 0; b < outputs.size(); ++b)
      if (outputs[b]) shown[circuit_->info().outputs[b].name] = rows_of(*outputs[b]);
    Json parts = {{"live material 0", hex_of(makers_session.id())}};
    const auto add_part = [&](const char* name, Phase kind, std::uint64_t number) {
      parts[name + (" " + std::to_string(number))] =
          hex_of(Session(makers_session, kind, number, makers, makers_log).id());
    };
    for (std::size_t unit = 0; unit < units.size(); ++unit) add_part("unit", "unit", unit);
    if (params_.profile() == Profile::Wan) add_part("silent bits", "silent bits", 0);
    return {{"session", hex_of(ids.session)}, {"connection", hex_of(ids.connection)},
            {"parts", std::move(parts)},      {"global_key", hex_of_object(key)},
            {"material", kept.described()},   {"outputs", std::move(shown)}};
  }

  void check_outputs(Party me, const BundleValues& outputs) const {
    const std::vector<LaneMatrix> wanted = circuit::evaluate(*circuit_, case_.lanes, inputs_);
    for (std::size_t b = 0; b < wanted.size(); ++b)
      if (outputs[b].has_value() != receives(circuit_->info().outputs[b].to, me) ||
          (outputs[b] && rows_of(*outputs[b]) != rows_of(wanted[b])))
        throw std::logic_error("an output is wrong: " + circuit_->info().outputs[b].name);
  }

  Json describe() const {
    const CircuitInfo& info = circuit_->info();
    Json inputs = Json::array(), outputs = Json::array(), parameters = Json::array(),
         units = Json::array();
    for (std::size_t b = 0; b < info.inputs.size(); ++b)
      inputs.push_back({{"name", info.inputs[b].name},
                        {"bits", info.inputs[b].bits},
                        {"source", name_of(info.inputs[b].source)},
                        {"same_in_all_lanes", info.inputs[b].same_in_all_lanes},
                        {"values", rows_of(inputs_[b])}});
    for (const OutputBundle& output : info.outputs)
      outputs.push_back({{"name", output.name}, {"bits", output.bits}, {"to", name_of(output.to)}});
    for (const Parameter& parameter : parameters_of_party(Party::A))
      parameters.push_back({{"name", parameter.name},
                            {"value", parameter.value},
                            {"shown", parameter.shown},
                            {"open", parameter.is_open}});
    for (const UnitRequest& unit : units_of_session())
      units.push_back(
          {{"ands", unit.plan.ands}, {"bucket", unit.plan.bucket.text()}, {"inputs", unit.inputs}});
    return {{"session", case_.name},
            {"version", kVersion},
            {"wire_version", kWireVersion},
            {"profile", name_of(params_.profile())},
            {"material", name_of(params_.material())},
            {"online", name_of(case_.phase)},
            {"inputs_later", case_.is_prepared},
            {"lanes", case_.lanes},
            {"parameters", std::move(parameters)},
            {"units", std::move(units)},
            {"circuit",
             {{"inputs", std::move(inputs)},
              {"outputs", std::move(outputs)},
              {"gates", gates_as_text(*circuit_)}}},
            {"seeds",
             {{"A", hex_of_object(seeds_.parties[0])},
              {"B", hex_of_object(seeds_.parties[1])},
              {"inputs", hex_of_object(seeds_.inputs)}}}};
  }

  const SessionCase& case_;
  SessionSeeds seeds_;
  SecurityParameters params_;
  std::unique_ptr<Circuit> circuit_;
  LoadedCircuit loaded_;
  std::vector<LaneMatrix> inputs_;
  Json results_[2];
};

Seed seed_of(std::uint8_t first) {
  std::array<std::uint8_t, sizeof(Block)> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(first + i);
  Seed seed;
  std::memcpy(&seed, bytes.data(), sizeof seed);
  return seed;
}

}  // namespace

SessionSeeds published_seeds() { return {{seed_of(0), seed_of(0x10)}, seed_of(0x20)}; }

std::vector<std::string> session_vector_names() {
  std::vector<std::string> names;
  for (const SessionCase& each : session_cases()) names.emplace_back(each.name);
  return names;
}

SessionVector make_session_vector(const std::string& name, const SessionSeeds& seeds) {
  const auto found = std::ranges::find(session_cases(), name, &SessionCase::name);
  if (found == session_cases().end()) throw std::out_of_range("there is no session " + name);
  return VectorSession(*found, seeds).run();
}

}  // namespace tinyot::test
