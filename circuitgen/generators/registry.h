// The registry of circuits by name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "circuitgen/generators/family.h"

namespace tinyot::circuit {

// All families, with description, parameters and defaults, in the order of listing.
const std::vector<CircuitFamily>& circuit_families();
std::vector<std::string> circuit_names();

// `spec` is `name` or `name:key=value,key=value`. Null if no family has this name; info().name of
// the circuit is the canonical spec, see CircuitArguments. Fails: UsageError for a wrong key or
// value, with the known keys and allowed values.
std::unique_ptr<Circuit> find_circuit(std::string_view spec);

// The same for the circuits of custody (kept_keys.h, key_uses.h), which find_circuit() does not
// know: they compute with keys that no job may name.
const std::vector<CircuitFamily>& key_circuit_families();
std::unique_ptr<Circuit> find_key_circuit(std::string_view spec);

// What is known of a circuit that these functions have made.
struct BuiltIn {
  std::string name;  // with all parameters
  std::uint32_t revision;
};
// Empty for any other circuit, a copy of such a one in a file included.
std::optional<BuiltIn> built_in(const Circuit& circuit);

}  // namespace tinyot::circuit
