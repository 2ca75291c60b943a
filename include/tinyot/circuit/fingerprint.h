// The fingerprint of a circuit: what two parties compare before they evaluate it, and what a policy
// of the daemon allows.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tinyot/circuit/gate.h"
#include "tinyot/export.h"

namespace tinyot::circuit {

// 256 bits, compared whole. It is the same whichever way the circuit comes: by name, from a file of
// any format, from a function in C++ or Python.
//
// Of a built-in circuit: its inputs and outputs, its name with all parameters, and the revision of
// its generator. It matches that circuit only, not a copy of its gates in a file. Of any other: its
// inputs and outputs (names, widths, sources, receivers, formats, in which lanes they are the same)
// and its gates in their order. The circuit's own name is not a part of it.
struct CircuitFingerprint {
  std::array<std::uint8_t, 32> bytes{};
  friend bool operator==(const CircuitFingerprint&, const CircuitFingerprint&) = default;
};

// 64 hex digits; parsing accepts nothing else.
TINYOT_API std::string text_of(const CircuitFingerprint& fingerprint);
TINYOT_API std::optional<CircuitFingerprint> parse_circuit_fingerprint(std::string_view text);
// The first 16 digits, for display only.
TINYOT_API std::string short_name(const CircuitFingerprint& fingerprint);

// Generates the circuit once, unless it is built in. Fails: whatever its function throws;
// std::logic_error on a stream that breaks the contract of Circuit.
TINYOT_API CircuitFingerprint fingerprint_of(const Circuit& circuit);

}  // namespace tinyot::circuit
