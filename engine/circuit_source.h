// A circuit from a named generator or a file, with the information that a run needs.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "circuitgen/cost.h"
#include "circuitgen/formats/circuit_file.h"
#include "tinyot/circuit/gate.h"

namespace tinyot::engine {

class LoadedCircuit {
 public:
  static constexpr std::uint64_t kLanesMax = std::uint64_t{1} << 24;

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
  // A circuit of the caller's, which outlives this object. It is counted at once, whatever its
  // size, as all its gates are read for the fingerprint.
  static LoadedCircuit borrowed(const circuit::Circuit& circuit, std::size_t lanes);

  const circuit::Circuit& circuit() const { return *circuit_; }
  const circuit::CircuitInfo& info() const { return circuit_->info(); }
  // A large circuit is counted by the first call, which takes about as long as a tenth of a run.
  const circuit::CircuitCost& cost() const;
  // The cost if the circuit has been counted: it is small, or cost() has been called.
  const std::optional<circuit::CircuitCost>& known_cost() const { return cost_; }
  // The cost of a circuit with at most so many ANDs, in one lane; null for a larger one, whose
  // generation stops there.
  const circuit::CircuitCost* cost_within_ands(std::uint64_t ands_max) const;
  std::size_t lanes() const { return lanes_; }
  // The same circuit on another number of lanes.
  LoadedCircuit on_lanes(std::size_t lanes) const {
    LoadedCircuit other = *this;
    other.lanes_ = lanes;
    return other;
  }

  // What both parties compare: the name; for a file a digest of its bytes, owners and widths of
  // inputs, and the receivers; for a circuit of the caller's a digest of its inputs, outputs and
  // gates.
  const std::string& fingerprint() const { return fingerprint_; }
  // Of a file's bytes; empty for other circuits.
  const std::string& digest() const { return digest_; }
  // Whether the circuit says who owns its inputs and who receives its outputs; a file may not.
  bool has_roles() const { return has_roles_; }

 private:
  static LoadedCircuit read(const std::shared_ptr<const circuit::TextSource>& text,
                            const std::string& name, const circuit::CircuitFileOptions& options,
                            std::size_t lanes);
  LoadedCircuit(std::shared_ptr<const circuit::Circuit> circuit, std::string fingerprint,
                std::size_t lanes, std::optional<circuit::CircuitCost> cost);

  std::shared_ptr<const circuit::Circuit> circuit_;
  std::string fingerprint_, digest_;
  bool has_roles_ = true;
  std::size_t lanes_;
  mutable std::optional<circuit::CircuitCost> cost_;
};

}  // namespace tinyot::engine
