#include "tinyot/run.h"

#include "base/error.h"
#include "crypto/random_oracle.h"
#include "engine/api/state.h"
#include "engine/evaluator.h"
#include "engine/run.h"

namespace tinyot {
namespace {

// A circuit of the caller's, which outlives this view of it.
class BorrowedCircuit final : public circuit::Circuit {
 public:
  explicit BorrowedCircuit(const circuit::Circuit& circuit) : circuit_(circuit) {}
  const circuit::CircuitInfo& info() const override { return circuit_.info(); }
  void generate(circuit::GateSink& sink) const override { circuit_.generate(sink); }

 private:
  const circuit::Circuit& circuit_;
};

// Absorbs a circuit's interface and gates.
class CircuitDigest final : public circuit::GateSink {
 public:
  CircuitDigest() : oracle_({}, {"circuit", '*', 0}) { gates_.reserve(kGates); }

  void add(const circuit::CircuitInfo& info) {
    add(info.inputs.size());
    for (const circuit::InputBundle& bundle : info.inputs) {
      add(bundle.name);
      add(bundle.bits);
      add(bundle.owner ? static_cast<std::uint64_t>(*bundle.owner) : ~std::uint64_t{0});
      add(bundle.same_in_all_lanes);
    }
    add(info.outputs.size());
    for (const circuit::OutputBundle& bundle : info.outputs) {
      add(bundle.name);
      add(bundle.bits);
      add(static_cast<std::uint64_t>(bundle.to));
    }
  }
  void emit(const circuit::Gate& gate) override {
    gates_.push_back({static_cast<std::uint64_t>(gate.kind), gate.out, gate.in0, gate.in1});
    if (gates_.size() == kGates) flush();
  }
  std::string text() {
    flush();
    return short_name({oracle_.digest().bytes});
  }

 private:
  static constexpr std::size_t kGates = std::size_t{1} << 13;

  void add(std::uint64_t number) { oracle_.absorb(std::as_bytes(std::span(&number, 1))); }
  void add(const std::string& text) {
    add(text.size());
    oracle_.absorb(std::as_bytes(std::span(text)));
  }
  void flush() {
    oracle_.absorb(std::as_bytes(std::span(gates_)));
    gates_.clear();
  }

  crypto::RandomOracle oracle_;
  std::vector<std::array<std::uint64_t, 4>> gates_;
};

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
  result.outputs = output_values(info, report.result.outputs);
  result.ands = report.result.ands;
  result.xors = report.result.xors;
  result.and_rounds = report.result.and_rounds;
  result.burnt = report.burnt;
  result.wall_s = report.wall_s;
  result.phases = std::move(report.phases);
  return result;
}

// The circuit with a digest of its interface and all its gates, which the parties compare.
engine::LoadedCircuit loaded(const circuit::Circuit& circuit, std::size_t lanes) {
  CircuitDigest digest;
  digest.add(circuit.info());
  circuit.generate(digest);
  return engine::LoadedCircuit(std::make_unique<BorrowedCircuit>(circuit),
                               circuit.info().name + " " + digest.text(), lanes);
}

}  // namespace

RunResult run(const RunRequest& request, const circuit::Circuit& circuit, const Values& inputs,
              std::size_t lanes, const std::stop_token& cancel) {
  const circuit::CircuitInfo& info = circuit.info();
  for (const circuit::InputBundle& bundle : info.inputs)
    if (!bundle.owner)
      throw UsageError("input " + bundle.name + " continues an earlier circuit: use an Evaluator");
  const online::InputValues values = input_values(info, request.party, lanes, inputs);
  const engine::RunRequest job = engine_request(request);
  if (job.live.has_value() != job.stores.empty())
    throw UsageError("a run is on stores, or it is live and makes its own material");
  engine::RunReport report = engine::run(job, loaded(circuit, lanes), values, cancel);
  return result_of(info, report);
}

std::size_t SharedBits::bits() const { return value_->bits(); }
std::size_t SharedBits::lanes() const { return value_->lanes(); }

struct Evaluator::State {
  Party party;
  engine::Evaluator evaluator;
};

Evaluator::Evaluator(const RunRequest& request, const std::stop_token& cancel)
    : state_(new State{request.party, engine::Evaluator(engine_request(request), cancel)}) {}
Evaluator::Evaluator(Evaluator&&) noexcept = default;
Evaluator& Evaluator::operator=(Evaluator&&) noexcept = default;
Evaluator::~Evaluator() = default;

RunResult Evaluator::run(const circuit::Circuit& circuit, const Values& inputs,
                         const SharedInputs& shared, std::size_t lanes) {
  const circuit::CircuitInfo& info = circuit.info();
  const online::InputValues values = input_values(info, state_->party, lanes, inputs);
  std::vector<engine::Evaluator::Shared> continued;
  for (const circuit::InputBundle& bundle : info.inputs) {
    continued.emplace_back();
    if (bundle.owner) continue;
    const auto found = shared.find(bundle.name);
    if (found == shared.end())
      throw UsageError("input " + bundle.name + " continues a shared value, and none is given");
    const SharedBits& value = found->second;
    if (value.bits() != bundle.bits || value.lanes() != lanes)
      throw UsageError("input " + bundle.name + " has " + std::to_string(bundle.bits) +
                       " bits in " + std::to_string(lanes) + " lanes; the shared value has " +
                       std::to_string(value.bits()) + " in " + std::to_string(value.lanes()));
    if (!value.origin_.starts_with(state_->evaluator.connection()))
      throw UsageError("input " + bundle.name + " continues a value of another connection");
    continued.back() = {value.value_.get(), value.origin_};
  }
  const std::string origin = state_->evaluator.connection() + ", circuit " +
                             std::to_string(state_->evaluator.runs()) + ", output ";
  engine::RunReport report = state_->evaluator.run(loaded(circuit, lanes), values, continued);
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
