// A circuit by the name of a generator or from a file, with what a run needs to know about it.
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

  // A generator of this name with its parameters, or null.
  static std::optional<LoadedCircuit> generated(const std::string& name, std::size_t lanes);
  // Fails: UsageError for a file that is missing, unreadable or malformed, or to which the options
  // do not apply.
  static LoadedCircuit from_file(const std::string& path,
                                 const circuit::CircuitFileOptions& options, std::size_t lanes);
  // A circuit of the caller's, which both parties give the same fingerprint.
  LoadedCircuit(std::unique_ptr<circuit::Circuit> circuit, std::string fingerprint,
                std::size_t lanes);

  const circuit::Circuit& circuit() const { return *circuit_; }
  const circuit::CircuitInfo& info() const { return circuit_->info(); }
  // Counted when it is asked for first, which takes about as long as a tenth of a run.
  const circuit::CircuitCost& cost() const;
  // The cost of a circuit that is counted in no time; nothing for a larger one.
  const std::optional<circuit::CircuitCost>& small_cost() const { return small_cost_; }
  std::size_t lanes() const { return lanes_; }

  // What both parties compare: the name, and for a file a digest of its bytes, owners and widths of
  // inputs, and the receivers.
  const std::string& fingerprint() const { return fingerprint_; }

 private:
  std::unique_ptr<circuit::Circuit> circuit_;
  std::string fingerprint_;
  std::size_t lanes_;
  std::optional<circuit::CircuitCost> small_cost_;
  mutable std::optional<circuit::CircuitCost> large_cost_;
};

}  // namespace tinyot::engine
