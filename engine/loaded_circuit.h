// A circuit by name, from a file or of the caller's, with the information that a run needs.
//
// Whichever way it comes, of() makes its fingerprint. A circuit that is not built in is generated
// once for that, and each later generation is compared with the first one
// (circuitgen/checked_circuit.h).
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "circuitgen/circuit_rounds.h"
#include "circuitgen/cost.h"
#include "circuitgen/formats/circuit_file.h"
#include "tinyot/circuit/fingerprint.h"
#include "tinyot/circuit/gate.h"

namespace tinyot::engine {

// A circuit with what has been found out about it: as itself a Circuit, it takes this knowledge
// along through the public interface. Thread-safe.
class KnownCircuit final : public circuit::Circuit {
 public:
  // With the fingerprint of a circuit that is built in; any other is generated once.
  explicit KnownCircuit(std::shared_ptr<const circuit::Circuit> circuit);

  const circuit::CircuitInfo& info() const override { return circuit_->info(); }
  void generate(circuit::GateSink& sink) const override { circuit_->generate(sink); }

  const circuit::CircuitFingerprint& fingerprint() const { return fingerprint_; }
  const circuit::CircuitFingerprint& interface_fingerprint() const { return interface_; }
  bool is_built_in() const { return is_built_in_; }
  const circuit::CircuitCost& cost() const;
  const circuit::CircuitCost* known_cost() const;
  const circuit::CircuitCost* cost_within_ands(std::uint64_t ands_max) const;
  const circuit::CircuitCost* cost_within(std::uint64_t gates_max) const;

 private:
  std::shared_ptr<const circuit::Circuit> circuit_;
  circuit::CircuitFingerprint fingerprint_, interface_;
  bool is_built_in_ = false;
  void set_cost(const std::optional<circuit::CircuitCost>& cost) const;

  mutable std::mutex mutex_;
  mutable std::optional<circuit::CircuitCost> cost_;  // set once
};

class LoadedCircuit {
 public:
  static constexpr std::uint64_t kLanesMax = std::uint64_t{1} << 24;
  // Built-in circuits with more ANDs and XORs are not counted when they are loaded.
  static constexpr std::uint64_t kSmallGates = std::uint64_t{1} << 22;

  // Fails: as the circuit's first generation.
  static LoadedCircuit of(std::shared_ptr<const circuit::Circuit> circuit, std::size_t lanes);

  // A generator by its name and parameters; empty if there is none.
  static std::optional<LoadedCircuit> generated(const std::string& name, std::size_t lanes);
  // The same, of which no gate has been generated: for a caller that may refuse it.
  static std::optional<LoadedCircuit> not_generated(const std::string& name, std::size_t lanes);
  // Fails: UsageError for a file that is missing, unreadable or malformed, or to which the options
  // do not apply.
  static LoadedCircuit from_file(const std::string& path,
                                 const circuit::CircuitFileOptions& options, std::size_t lanes);
  // The same for the content of a file; `name` is the file's without its extension.
  static LoadedCircuit from_text(std::string text, const std::string& name,
                                 const circuit::CircuitFileOptions& options, std::size_t lanes);
  // A circuit of the caller's, which outlives this object.
  static LoadedCircuit borrowed(const circuit::Circuit& circuit, std::size_t lanes);

  const circuit::Circuit& circuit() const { return *circuit_; }
  const circuit::CircuitInfo& info() const { return circuit_->info(); }
  // A large built-in circuit is counted by the first call, which takes about as long as a tenth of
  // a run.
  const circuit::CircuitCost& cost() const { return circuit_->cost(); }
  // The cost if the circuit has been counted: it is small or not built in, or cost() has been
  // called. Otherwise null.
  const circuit::CircuitCost* known_cost() const { return circuit_->known_cost(); }
  // The same for a circuit of at most kSmallGates gates, which every process has counted; null for
  // a larger one, although this one may have. What parties agree on without a message follows from
  // this.
  const circuit::CircuitCost* small_cost() const {
    const circuit::CircuitCost* const cost = known_cost();
    return cost != nullptr && cost->gates() <= kSmallGates ? cost : nullptr;
  }
  // The cost of a circuit with at most so many ANDs, in one lane; null for a larger one, whose
  // generation stops there.
  const circuit::CircuitCost* cost_within_ands(std::uint64_t ands_max) const {
    return circuit_->cost_within_ands(ands_max);
  }
  std::size_t lanes() const { return lanes_; }
  // Layered with a window, before a run if the circuit is known to be small. A circuit that is
  // built in may be kept from an earlier run (engine/circuit_cache.h).
  circuit::CircuitRounds rounds(std::size_t window,
                                circuit::GroupsAs groups = circuit::GroupsAs::Gates) const;
  // How groups are layered: as gates if it is known that there are none, so that all phases take
  // the same rounds.
  circuit::GroupsAs layered_as(circuit::GroupsAs groups) const {
    const circuit::CircuitCost* const cost = known_cost();
    return cost != nullptr && cost->groups == 0 && cost->products == cost->ands
               ? circuit::GroupsAs::Gates
               : groups;
  }
  // The same circuit on another number of lanes.
  LoadedCircuit on_lanes(std::size_t lanes) const {
    LoadedCircuit other = *this;
    other.lanes_ = lanes;
    return other;
  }

  // What both parties compare, and that of the inputs and outputs alone.
  const circuit::CircuitFingerprint& fingerprint() const { return circuit_->fingerprint(); }
  const circuit::CircuitFingerprint& interface_fingerprint() const {
    return circuit_->interface_fingerprint();
  }
  bool is_built_in() const { return circuit_->is_built_in(); }
  // The circuit's name with the short form of the fingerprint, for messages.
  std::string shown() const;
  // Whether the circuit says who owns its inputs and who receives its outputs; a file may not.
  bool has_roles() const { return has_roles_; }

 private:
  static LoadedCircuit read(const std::shared_ptr<const circuit::TextSource>& text,
                            const std::string& name, const circuit::CircuitFileOptions& options,
                            std::size_t lanes);
  LoadedCircuit(std::shared_ptr<const circuit::Circuit> circuit, std::size_t lanes);
  circuit::KeptRounds kept_rounds(std::size_t window, circuit::GroupsAs groups) const;

  std::shared_ptr<const KnownCircuit> circuit_;
  bool has_roles_ = true;
  std::size_t lanes_;
};

}  // namespace tinyot::engine
