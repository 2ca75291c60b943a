#include "engine/loaded_circuit.h"

#include <filesystem>
#include <utility>

#include "base/error.h"
#include "circuitgen/checked_circuit.h"
#include "circuitgen/formats/text_source.h"
#include "circuitgen/generators/registry.h"
#include "engine/circuit_cache.h"
#include "engine/circuit_fingerprint.h"

namespace tinyot::engine {

KnownCircuit::KnownCircuit(std::shared_ptr<const circuit::Circuit> circuit)
    : circuit_(std::move(circuit)), interface_(engine::interface_fingerprint(circuit_->info())) {
  if (const auto what = circuit::built_in(*circuit_)) {
    is_built_in_ = true;
    fingerprint_ = fingerprint_of(circuit_->info(), *what);
    cost_ = CircuitCache::of_process().cost(fingerprint_);
    return;
  }
  GateFingerprint gates = fingerprint_of_gates(*circuit_);
  fingerprint_ = gates.fingerprint;
  cost_ = gates.first.cost;
  circuit_ =
      std::make_shared<circuit::CheckedCircuit>(std::move(circuit_), std::move(gates.first.record));
}

const circuit::CircuitCost& KnownCircuit::cost() const {
  const std::lock_guard lock(mutex_);
  if (!cost_) set_cost(circuit::cost_of(*circuit_));
  return *cost_;
}

void KnownCircuit::set_cost(const std::optional<circuit::CircuitCost>& cost) const {
  cost_ = cost;
  if (cost_ && is_built_in_) CircuitCache::of_process().keep_cost(fingerprint_, *cost_);
}

const circuit::CircuitCost* KnownCircuit::known_cost() const {
  const std::lock_guard lock(mutex_);
  return cost_ ? &*cost_ : nullptr;
}

const circuit::CircuitCost* KnownCircuit::cost_within_ands(std::uint64_t ands_max) const {
  const std::lock_guard lock(mutex_);
  if (!cost_) set_cost(circuit::cost_within_ands(*circuit_, ands_max));
  return cost_ && cost_->ands <= ands_max ? &*cost_ : nullptr;
}

const circuit::CircuitCost* KnownCircuit::cost_within(std::uint64_t gates_max) const {
  const std::lock_guard lock(mutex_);
  if (!cost_) set_cost(circuit::cost_within(*circuit_, gates_max));
  return cost_ ? &*cost_ : nullptr;
}

LoadedCircuit::LoadedCircuit(std::shared_ptr<const circuit::Circuit> circuit, std::size_t lanes)
    : circuit_(std::dynamic_pointer_cast<const KnownCircuit>(circuit)), lanes_(lanes) {
  if (circuit_ == nullptr) circuit_ = std::make_shared<KnownCircuit>(std::move(circuit));
}

LoadedCircuit LoadedCircuit::of(std::shared_ptr<const circuit::Circuit> circuit,
                                std::size_t lanes) {
  const bool is_known = dynamic_cast<const KnownCircuit*>(circuit.get()) != nullptr;
  LoadedCircuit loaded(std::move(circuit), lanes);
  if (!is_known) (void)loaded.circuit_->cost_within(kSmallGates);
  return loaded;
}

std::optional<LoadedCircuit> LoadedCircuit::generated(const std::string& name, std::size_t lanes) {
  auto found = circuit::find_circuit(name);
  if (!found) return std::nullopt;
  return of(std::move(found), lanes);
}

std::optional<LoadedCircuit> LoadedCircuit::not_generated(const std::string& name,
                                                          std::size_t lanes) {
  auto found = circuit::find_circuit(name);
  if (!found) return std::nullopt;
  LoadedCircuit loaded(std::move(found), lanes);
  ENSURE(loaded.is_built_in());
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
  auto file = circuit::read_circuit(text, name, options);
  const bool has_roles = file->has_description();
  LoadedCircuit loaded = of(std::move(file), lanes);
  loaded.has_roles_ = has_roles;
  return loaded;
}

LoadedCircuit LoadedCircuit::borrowed(const circuit::Circuit& circuit, std::size_t lanes) {
  // This shared_ptr owns nothing (aliasing constructor).
  return of(std::shared_ptr<const circuit::Circuit>(std::shared_ptr<void>(), &circuit), lanes);
}

circuit::CircuitRounds LoadedCircuit::rounds(std::size_t window, circuit::GroupsAs wanted) const {
  const circuit::CircuitCost* const known = known_cost();
  const circuit::GroupsAs groups = layered_as(wanted);
  return circuit::CircuitRounds(circuit(), known != nullptr ? known->gates() : ~std::uint64_t{0},
                                lanes_, window, kept_rounds(window, groups), groups);
}

// A function that does not do the same on each call is found by generating it for each run.
circuit::KeptRounds LoadedCircuit::kept_rounds(std::size_t window, circuit::GroupsAs groups) const {
  if (!is_built_in()) return {};
  CircuitCache& cache = CircuitCache::of_process();
  const CircuitCache::Layering layering = {fingerprint(), window, lanes_ > 1, groups};
  if (auto kept = cache.rounds(layering)) return {std::move(kept), {}};
  CircuitCache::Room room = cache.room_for(layering);
  const std::size_t bytes = room.bytes;
  return {nullptr,
          [&cache, layering,
           room = std::move(room)](std::shared_ptr<const circuit::LayeredCircuit> rounds) {
            if (rounds != nullptr)
              cache.keep_rounds(layering, std::move(rounds));
            else
              cache.note_too_large(layering, room.bytes);
          },
          bytes};
}

std::string LoadedCircuit::shown() const {
  constexpr std::size_t kNameMax = 80;
  return info().name.substr(0, kNameMax) + (is_built_in() ? " (built in, " : " (") +
         short_name(fingerprint()) + ")";
}

}  // namespace tinyot::engine
