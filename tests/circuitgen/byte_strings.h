// Strings of bytes as inputs and outputs of circuits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "circuitgen/generators/registry.h"
#include "tests/support/lane_values.h"
#include "tests/support/layers.h"

namespace tinyot {

inline std::string from_hex(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  return bytes;
}

inline std::string to_hex(const std::string& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string digits;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    digits += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return digits;
}

inline std::string random_string(std::size_t bytes, std::mt19937_64& rng) {
  std::string result(bytes, '\0');
  for (char& c : result) c = static_cast<char>(rng());
  return result;
}

inline const unsigned char* data_of(const std::string& bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
inline unsigned char* data_of(std::string& bytes) {
  return reinterpret_cast<unsigned char*>(bytes.data());
}

// The values of bundles by name.
struct NamedString {
  std::string name;
  std::string value;
};

// `x` as two shares, `name`_a and `name`_b.
inline std::vector<NamedString> shares_of(const std::string& name, std::string x,
                                          std::mt19937_64& rng) {
  const std::string share = random_string(x.size(), rng);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<char>(x[k] ^ share[k]);
  return {{name + "_a", share}, {name + "_b", x}};
}

inline std::string bytes_of(const BitVector& value) {
  std::string bytes((value.size() + 7) / 8, '\0');
  std::copy_n(value.bytes().begin(), bytes.size(), reinterpret_cast<std::byte*>(bytes.data()));
  return bytes;
}

// The outputs of one lane in their order. Each input bundle has a value of its width; values of
// empty bundles are ignored. Fails: std::logic_error by ENSURE otherwise.
inline std::vector<std::string> evaluate_strings(const circuit::Circuit& circuit,
                                                 const std::vector<NamedString>& values) {
  std::vector<LaneValues> inputs;
  for (const InputBundle& bundle : circuit.info().inputs) {
    const auto value = std::find_if(values.begin(), values.end(),
                                    [&](const NamedString& v) { return v.name == bundle.name; });
    ENSURE(value != values.end() && 8 * value->value.size() == bundle.bits);
    BitVector bits(bundle.bits);
    std::copy_n(reinterpret_cast<const std::byte*>(value->value.data()), value->value.size(),
                bits.bytes().begin());
    inputs.push_back({std::move(bits)});
  }
  std::vector<std::string> outputs;
  for (const LaneValues& output : evaluate(circuit, 1, inputs))
    outputs.push_back(bytes_of(output[0]));
  return outputs;
}
inline std::vector<std::string> evaluate_strings(const std::string& spec,
                                                 const std::vector<NamedString>& values) {
  const auto circuit = find_circuit(spec);
  ENSURE(circuit != nullptr);
  return evaluate_strings(*circuit, values);
}

}  // namespace tinyot
