// The registry of circuits by name.
#pragma once

#include <cstdint>
#include <map>
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

// Types of inputs and outputs by their names, as in `--type a=i32`.
using TypesByName = std::map<std::string, std::string>;

// The circuit of the same family that compares values of these types: with the parameters `signed`,
// `fraction` and `text` that the types of compared inputs and outputs call for. The same text if no
// type calls for others, or `spec` is no circuit of such a family. Fails: UsageError if two types
// call for different ones, or for others than the text has.
std::string spec_for_types(const std::string& spec, const TypesByName& types);

// The circuit of the same family as `circuit` that compares values of this type in the input or
// output; empty if there is none, or if it is the same.
std::string spec_for_type(const std::string& circuit, const std::string& bundle,
                          const std::string& type);

// For a refusal of a type or of a list's length by a circuit of this name: "; circuit sort:count=6
// does" or the like, if there is such a circuit of the family.
std::string circuit_for_type(const std::string& circuit, const std::string& bundle,
                             const std::string& type);
std::string circuit_for_length(const std::string& circuit, const std::string& input,
                               std::uint64_t values);

}  // namespace tinyot::circuit
