#include "base/error.h"
#include "base/lane_bits.h"
#include "circuitgen/cost.h"
#include "circuitgen/evaluate.h"
#include "circuitgen/generators/family.h"
#include "material/pipe.h"
#include "offline/unit/preprocessor.h"
#include "offline/unit/unit_maker.h"
#include "online/garbled/garbled_run.h"
#include "online/interactive/runtime.h"
#include "tools/selftest/adversary/scenario.h"

namespace tinyot::tools {
namespace {

constexpr std::size_t kUnits = 2, kUnitAnds = 32, kUnitInputs = 48, kLanes = 9, kBits = 4,
                      kWindow = 1024;

// Two layers of ANDs; outputs to A, to B and to both.
void emit_circuit(circuit::Builder& builder) {
  const circuit::Bits x = builder.input(0), y = builder.input(1);
  circuit::Bits products, sums;
  for (std::size_t i = 0; i < kBits; ++i) products.push_back(x[i] & y[i]);
  for (std::size_t i = 0; i + 1 < kBits; ++i)
    sums.push_back((products[i] ^ x[i + 1]) & (products[i + 1] ^ y[i]));
  builder.output(0, std::vector{sums[0], products[0]});
  builder.output(1, std::vector{sums[1], products[1]});
  builder.output(2, std::vector{sums[2], products[2], products[3], x[0] ^ y[3]});
}

std::unique_ptr<circuit::Circuit> attacked_circuit() {
  circuit::CircuitInfo info{
      "attacked",
      {circuit::integer_input("x", kBits, Party::A), circuit::integer_input("y", kBits, Party::B)},
      {circuit::integer_output("to_a", 2), circuit::integer_output("to_b", 2),
       circuit::integer_output("to_both", 4)}};
  info.outputs[0].to = circuit::Receiver::A;
  info.outputs[1].to = circuit::Receiver::B;
  return std::make_unique<circuit::GeneratedCircuit>(std::move(info), emit_circuit);
}

class Computation final : public Scenario {
 public:
  Computation(const ParameterRequest& request, std::uint64_t seed)
      : params_(offline::SecurityParameters::make(request)), seed_(seed),
        circuit_(attacked_circuit()) {
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
    checks::Session session(me, ids, key, channel, std::move(rng), log);
    material::Pipe pipe(me);
    offline::Preprocessor(session, params_)
        .make_units(
            std::vector<offline::UnitRequest>(kUnits, {params_.plan(kUnitAnds).at(0), kUnitInputs}),
            pipe);
    pipe.end(std::make_exception_ptr(OutOfMaterial("the peer did not request all units")));
    evaluate_circuit(session, pipe);
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
  void evaluate_circuit(checks::Session& session, material::Source& material) {
    online::BundleValues mine(inputs_.size());
    for (std::size_t bundle = 0; bundle < mine.size(); ++bundle)
      if (gives(circuit_->info().inputs[bundle].source, session.me()))
        mine[bundle] = inputs_[bundle];
    const circuit::CircuitCost cost = circuit::cost_of(*circuit_);
    circuit::CircuitRounds rounds(*circuit_, cost.gates(), kLanes, kWindow);
    const std::uint64_t ands = cost.ands_of(kLanes);
    online::Evaluation result =
        params_.material() == AndMaterial::Garbling
            ? online::run_garbled(session, material,
                                  online::garbled_material_for(circuit_->info(), ands, kLanes),
                                  rounds, mine)
            : online::run_circuit(
                  session, material,
                  online::material_for(circuit_->info(), ands, params_.material(), kLanes),
                  params_.material(), rounds, mine);
    outputs_[static_cast<std::size_t>(session.me())] = std::move(result.outputs);
  }

  offline::SecurityParameters params_;
  std::uint64_t seed_;
  std::unique_ptr<circuit::Circuit> circuit_;
  std::vector<LaneMatrix> inputs_;
  online::BundleValues outputs_[2];
};

// Buckets of two, so that sessions are short: the test is whether checks find what is sent, not how
// often a guess succeeds.
ParameterRequest small(Profile profile) {
  ParameterRequest request;
  request.profile = profile;
  request.unit = kUnitAnds;
  request.bucket = 2;
  request.weak_allowed = true;
  if (profile == Profile::Nnob12) request.own = Nnob12Parameters{Columns::Experiment};
  return request;
}

ScenarioKind computation(std::string name, std::string description, std::string group,
                         const ParameterRequest& request) {
  return {std::move(name), std::move(description), std::move(group),
          [=](std::uint64_t seed) { return std::make_unique<Computation>(request, seed); }};
}

}  // namespace

std::vector<ScenarioKind> computations() {
  ParameterRequest triples = small(Profile::Nnob12);
  triples.material = AndMaterial::Triples;
  ParameterRequest garbling = small(Profile::Fast);
  garbling.material = AndMaterial::Garbling;
  return {
      computation("nnob12", "the paper's protocols, ANDs from pairs", "nnob12",
                  small(Profile::Nnob12)),
      computation("nnob12-triples", "the paper's protocols, ANDs from triples", "nnob12", triples),
      computation("fast", "the fast profile", "fast", small(Profile::Fast)),
      computation("garbled", "the garbled phase, on material of the fast profile", "garbled",
                  garbling)};
}

}  // namespace tinyot::tools
