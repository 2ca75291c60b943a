// The registry of circuits by name.
#pragma once

#include <memory>
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

}  // namespace tinyot::circuit
