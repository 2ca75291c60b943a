#include "engine/circuit_source.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/session_id.h"
#include "circuitgen/formats/text_source.h"
#include "circuitgen/generators/registry.h"
#include "crypto/random_oracle.h"

namespace tinyot::engine {
namespace {

constexpr std::uint64_t kSmallGates = std::uint64_t{1} << 22;

std::string digest_of(const circuit::TextSource& text) {
  crypto::RandomOracle oracle({}, {"circuit file", '*', 0});
  std::vector<char> block(std::size_t{1} << 18);
  for (std::uint64_t at = 0; at < text.bytes(); at += block.size()) {
    block.resize(
        static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), text.bytes() - at)));
    text.read(at, block);
    oracle.absorb(std::as_bytes(std::span(block)));
  }
  return short_name(SessionId{oracle.digest().bytes});
}

// Absorbs a circuit's inputs, outputs and gates, and counts the gates.
class CircuitDigest final : public circuit::GateSink {
 public:
  explicit CircuitDigest(const circuit::CircuitInfo& info)
      : counter_(info), oracle_({}, {"circuit", '*', 0}) {
    gates_.reserve(kGates);
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
    counter_.emit(gate);
    gates_.push_back({static_cast<std::uint64_t>(gate.kind), gate.out, gate.in0, gate.in1});
    if (gates_.size() == kGates) flush();
  }
  std::string text() {
    flush();
    return short_name({oracle_.digest().bytes});
  }
  const circuit::CircuitCost& cost() const { return counter_.cost(); }

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

  circuit::CostCounter counter_;
  crypto::RandomOracle oracle_;
  std::vector<std::array<std::uint64_t, 4>> gates_;
};

}  // namespace

LoadedCircuit::LoadedCircuit(std::shared_ptr<const circuit::Circuit> circuit,
                             std::string fingerprint, std::size_t lanes,
                             std::optional<circuit::CircuitCost> cost)
    : circuit_(std::move(circuit)), fingerprint_(std::move(fingerprint)), lanes_(lanes),
      cost_(cost) {}

std::optional<LoadedCircuit> LoadedCircuit::not_generated(const std::string& name,
                                                          std::size_t lanes) {
  auto found = circuit::find_circuit(name);
  if (!found) return std::nullopt;
  std::string fingerprint = found->info().name;
  return LoadedCircuit(std::move(found), std::move(fingerprint), lanes, std::nullopt);
}

std::optional<LoadedCircuit> LoadedCircuit::generated(const std::string& name, std::size_t lanes) {
  auto loaded = not_generated(name, lanes);
  if (loaded) loaded->cost_ = circuit::cost_within(*loaded->circuit_, kSmallGates);
  return loaded;
}

LoadedCircuit LoadedCircuit::from_file(const std::string& path,
                                       const circuit::CircuitFileOptions& options,
                                       std::size_t lanes) {
  return read(circuit::open_text_file(path), std::filesystem::path(path).stem().string(), options,
              lanes);
}

LoadedCircuit LoadedCircuit::from_text(std::string text, const std::string& name,
                                       const circuit::CircuitFileOptions& options,
                                       std::size_t lanes) {
  return read(circuit::text_in_memory(name, std::move(text)), name, options, lanes);
}

LoadedCircuit LoadedCircuit::read(const std::shared_ptr<const circuit::TextSource>& text,
                                  const std::string& name,
                                  const circuit::CircuitFileOptions& options, std::size_t lanes) {
  auto circuit = circuit::read_circuit(text, name, options);
  const std::string digest = digest_of(*text);
  std::string fingerprint = circuit->info().name + " " + digest + " inputs";
  for (const circuit::InputBundle& bundle : circuit->info().inputs)
    fingerprint += " " + (bundle.owner ? std::string(1, letter(*bundle.owner)) : "none") +
                   std::to_string(bundle.bits);
  fingerprint += " outputs";
  for (const circuit::OutputBundle& bundle : circuit->info().outputs)
    fingerprint += " " + std::string(name_of(bundle.to)) + std::to_string(bundle.bits);
  const auto cost = circuit::cost_within(*circuit, kSmallGates);
  const bool has_roles = circuit->has_description();
  LoadedCircuit loaded(std::move(circuit), std::move(fingerprint), lanes, cost);
  loaded.digest_ = digest;
  loaded.has_roles_ = has_roles;
  return loaded;
}

LoadedCircuit LoadedCircuit::borrowed(const circuit::Circuit& circuit, std::size_t lanes) {
  CircuitDigest digest(circuit.info());
  circuit.generate(digest);
  // Shares the ownership of nothing.
  std::shared_ptr<const circuit::Circuit> view(std::shared_ptr<void>(), &circuit);
  return LoadedCircuit(std::move(view), circuit.info().name + " " + digest.text(), lanes,
                       digest.cost());
}

const circuit::CircuitCost* LoadedCircuit::cost_within_ands(std::uint64_t ands_max) const {
  if (!cost_) cost_ = circuit::cost_within_ands(*circuit_, ands_max);
  return cost_ && cost_->ands <= ands_max ? &*cost_ : nullptr;
}

const circuit::CircuitCost& LoadedCircuit::cost() const {
  if (!cost_) cost_ = circuit::cost_of(*circuit_);
  return *cost_;
}

}  // namespace tinyot::engine
