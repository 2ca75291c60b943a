#include "base/error.h"
#include "base/lane_bits.h"
#include "circuitgen/cost.h"
#include "circuitgen/evaluate.h"
#include "circuitgen/generators/family.h"
#include "crypto/ml_kem.h"
#include "material/pipe.h"
#include "offline/unit/preprocessor.h"
#include "offline/unit/unit_maker.h"
#include "online/online_phase.h"
#include "tools/selftest/adversary/scenario.h"

namespace tinyot::tools {
namespace {

constexpr std::size_t kUnits = 2, kUnitAnds = 64, kUnitInputs = 48, kLanes = 9, kBits = 4,
                      kWindow = 1024;

// How a circuit is evaluated, on which material.
struct Method {
  ParameterRequest material;
  OnlinePhase phase = OnlinePhase::Interactive;
  // Before its inputs are known, with a value that an earlier run has left shared.
  bool is_prepared = false;
  std::optional<RowCheck> row_check = {};
};

// Two layers of ANDs, of which a group of three factors in the second, so that the masked phase has
// two levels; outputs to A, to B and to both.
void emit_circuit(circuit::Builder& builder, bool has_shared) {
  const circuit::Bits x = builder.input(0), y = builder.input(1);
  circuit::Bits products, sums;
  for (std::size_t i = 0; i < kBits; ++i) products.push_back(x[i] & y[i]);
  if (has_shared) products[0] = products[0] ^ builder.input(2)[0];
  for (std::size_t i = 0; i + 1 < kBits; ++i)
    sums.push_back((products[i] ^ x[i + 1]) & (products[i + 1] ^ y[i]));
  const circuit::Bit p = products[0] ^ y[2], q = products[1] ^ x[0], r = products[2] ^ y[1];
  sums[0] ^= builder.group([&] { return p & q & r; });
  builder.output(0, std::vector{sums[0], products[0]});
  builder.output(1, std::vector{sums[1], products[1]});
  builder.output(2, std::vector{sums[2], products[2], products[3], x[0] ^ y[3]});
}

std::unique_ptr<circuit::Circuit> attacked_circuit(bool has_shared) {
  circuit::CircuitInfo info{
      "attacked",
      {circuit::integer_input("x", kBits, Party::A), circuit::integer_input("y", kBits, Party::B)},
      {circuit::integer_output("to_a", 2), circuit::integer_output("to_b", 2),
       circuit::integer_output("to_both", 4)}};
  info.outputs[0].to = circuit::Receiver::A;
  info.outputs[1].to = circuit::Receiver::B;
  if (has_shared) {
    info.inputs.push_back(circuit::integer_input("z", 1, Party::A));
    info.inputs.back().source = circuit::InputSource::Shared;
  }
  return std::make_unique<circuit::GeneratedCircuit>(
      std::move(info),
      [has_shared](circuit::Builder& builder) { emit_circuit(builder, has_shared); });
}

// Leaves the value of A shared.
std::unique_ptr<circuit::Circuit> sharing_circuit() {
  circuit::CircuitInfo info{
      "sharing", {circuit::integer_input("z", 1, Party::A)}, {circuit::integer_output("z", 1)}};
  info.outputs[0].to = circuit::Receiver::None;
  return std::make_unique<circuit::GeneratedCircuit>(
      std::move(info), [](circuit::Builder& builder) { builder.output(0, builder.input(0)); });
}

class Computation final : public Scenario {
 public:
  Computation(const Method& method, std::uint64_t seed)
      : method_(method), params_(offline::SecurityParameters::make(method.material)), seed_(seed),
        circuit_(attacked_circuit(method.is_prepared)) {
    crypto::Rng rng(Seed{{seed, 3}});
    for (const circuit::InputBundle& bundle : circuit_->info().inputs) {
      LaneMatrix values(kLanes, bundle.bits);
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        set_lane(values, lane, rng.bits(bundle.bits));
      inputs_.push_back(std::move(values));
    }
  }

  void run(Party me, net::Channel& channel) override {
    crypto::Rng rng(Seed{{seed_, static_cast<std::uint64_t>(me)}});
    const checks::SessionIds ids =
        checks::establish_session(channel, rng, me, {{"circuit", "attacked"}}, std::nullopt);
    checks::join_session(channel, ids, me, 1);
    net::PhaseLog log;
    const Delta key = offline::draw_global_key(rng, me, params_.profile(), params_.material());
    checks::Session session(me, ids, key, channel, std::move(rng), log, {}, params_.base_ot());
    material::Pipe pipe(me);
    offline::Preprocessor(session, params_)
        .make_units(
            std::vector<offline::UnitRequest>(kUnits, {params_.plan(kUnitAnds).at(0), kUnitInputs}),
            pipe);
    pipe.end(std::make_exception_ptr(OutOfMaterial("the peer did not request all units")));
    online::SharedValues shared;
    online::Evaluation made;
    if (method_.is_prepared) {
      made = evaluate(session, pipe, *sharing_circuit(), {}, {}, std::span(inputs_).last(1));
      shared = {nullptr, nullptr, &*made.shared[0]};
    }
    outputs_[static_cast<std::size_t>(me)] =
        evaluate(session, pipe, *circuit_, {method_.phase, method_.is_prepared, method_.row_check},
                 shared, inputs_)
            .outputs;
  }

  std::string flaw(Party honest) override {
    const online::BundleValues& outputs = outputs_[static_cast<std::size_t>(honest)];
    if (outputs.empty()) return {};
    const std::vector<LaneMatrix> wanted = circuit::evaluate(*circuit_, kLanes, inputs_);
    for (std::size_t bundle = 0; bundle < wanted.size(); ++bundle) {
      const circuit::OutputBundle& output = circuit_->info().outputs[bundle];
      if (outputs[bundle].has_value() != circuit::receives(output.to, honest))
        return "output " + output.name + " is present or absent, contrary to the circuit";
      for (std::size_t lane = 0; outputs[bundle] && lane < kLanes; ++lane)
        for (std::size_t bit = 0; bit < output.bits; ++bit)
          if ((*outputs[bundle])[lane][bit] != wanted[bundle][lane][bit])
            return "output " + output.name + " is wrong";
    }
    return {};
  }

 private:
  struct How {
    OnlinePhase phase = OnlinePhase::Interactive;
    bool is_prepared = false;
    std::optional<RowCheck> row_check = {};
  };
  online::Evaluation evaluate(checks::Session& session, material::Source& material,
                              const circuit::Circuit& circuit, const How& how,
                              const online::SharedValues& shared,
                              std::span<const LaneMatrix> inputs) const {
    const circuit::CircuitInfo& info = circuit.info();
    online::BundleValues mine(inputs.size());
    for (std::size_t bundle = 0; bundle < mine.size(); ++bundle)
      if (gives(info.inputs[bundle].source, session.me())) mine[bundle] = inputs[bundle];
    const circuit::CircuitCost cost = circuit::cost_of(circuit);
    const AndMaterial form = params_.material();
    const online::OnlinePhaseEntry& phase = *online::phases_on(form, how.phase).front();
    circuit::CircuitRounds rounds(circuit, cost.gates(), kLanes, kWindow, {}, phase.groups);
    std::optional<online::Preparation> preparation;
    if (how.is_prepared)
      preparation = phase.preparation_for(online::size_of_run(info, cost, kLanes), params_.sigma(),
                                          how.row_check);
    const auto run =
        phase.make({.session = session,
                    .source = material,
                    .wanted = phase.material_for(info, online::ands_for(phase, cost, kLanes), form,
                                                 kLanes, shared),
                    .form = form,
                    .rounds = rounds,
                    .shared = shared,
                    .preparation = preparation,
                    .progress = {}});
    run->prepare();
    return run->finish(mine);
  }

  Method method_;
  offline::SecurityParameters params_;
  std::uint64_t seed_;
  std::unique_ptr<circuit::Circuit> circuit_;
  std::vector<LaneMatrix> inputs_;
  online::BundleValues outputs_[2];
};

// The smallest buckets, so that sessions are short: the test is whether checks find what is sent,
// not how often a guess succeeds.
ParameterRequest small(Profile profile) {
  ParameterRequest request;
  request.profile = profile;
  request.unit = kUnitAnds;
  request.bucket = profile == Profile::Wan ? 3 : 2;
  request.weak_allowed = true;
  request.base_ot = BaseOt::Ristretto;
  if (profile == Profile::Nnob12) request.own = Nnob12Parameters{Columns::Experiment};
  if (profile == Profile::Wan) request.own = WanParameters{.silent_set = LpnSet::B9};
  return request;
}

ScenarioKind computation(std::string name, std::string description, std::string group,
                         const Method& method, std::string_view messages = {}) {
  return {.name = std::move(name),
          .description = std::move(description),
          .group = std::move(group),
          .make = [=](std::uint64_t seed) { return std::make_unique<Computation>(method, seed); },
          .messages = messages};
}

// What the wan profile does not share with the fast one. The units are too small for the third
// iteration of their chains, which each party begins with its corrections.
ScenarioKind wan_computation() {
  ScenarioKind kind = computation("wan", "the wan profile", "fast", {small(Profile::Wan)});
  kind.last_used = "silent.digest";
  return kind;
}

}  // namespace

std::vector<ScenarioKind> computations() {
  ParameterRequest triples = small(Profile::Nnob12);
  triples.material = AndMaterial::Triples;
  ParameterRequest garbling = small(Profile::Fast);
  garbling.material = AndMaterial::Garbling;
  const auto prepared = [&](RowCheck check) {
    return Method{garbling, OnlinePhase::Garbled, true, check};
  };
  std::vector<ScenarioKind> kinds = {
      computation("nnob12", "the paper's protocols, ANDs from pairs", "nnob12",
                  {small(Profile::Nnob12)}),
      computation("nnob12-triples", "the paper's protocols, ANDs from triples", "nnob12",
                  {triples}),
      computation("fast", "the fast profile", "fast", {small(Profile::Fast)}),
      wan_computation(),
      computation("garbled", "the garbled phase, on material of the fast profile", "garbled",
                  {garbling, OnlinePhase::Garbled}),
      computation("prepared-early", "a garbled run prepared before its inputs, early rows",
                  "prepared-early", prepared(RowCheck::Early), "garbled."),
      computation("prepared-batched", "a garbled run prepared before its inputs, batched check",
                  "prepared-batched", prepared(RowCheck::Batched), "garbled."),
      computation("masked", "the masked phase, on triples of the fast profile", "masked",
                  {small(Profile::Fast), OnlinePhase::Masked}, "masked."),
      computation("prepared-masked", "a masked run prepared before its inputs", "prepared-masked",
                  {small(Profile::Fast), OnlinePhase::Masked, true}, "masked.")};
  if (!crypto::has_ml_kem()) return kinds;
  ParameterRequest ml_kem = small(Profile::Fast);
  ml_kem.base_ot = BaseOt::MlKem;
  kinds.push_back(computation("ml-kem", "the fast profile, base OTs from ML-KEM-768", "ml-kem",
                              {ml_kem}, "base_ot."));
  return kinds;
}

}  // namespace tinyot::tools
