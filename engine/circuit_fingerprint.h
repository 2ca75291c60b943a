// Fingerprints of circuits: SHA-256 of their canonical encoding (circuitgen/fingerprint.h), under a
// domain with a version.
#pragma once

#include "circuitgen/fingerprint.h"
#include "circuitgen/generators/registry.h"
#include "tinyot/circuit/fingerprint.h"
#include "tinyot/circuit/gate.h"

namespace tinyot::engine {

// Of the inputs and outputs alone, under a domain of its own: it says where circuits differ.
circuit::CircuitFingerprint interface_fingerprint(const circuit::CircuitInfo& info);

circuit::CircuitFingerprint fingerprint_of(const circuit::CircuitInfo& info,
                                           const circuit::BuiltIn& what);

struct GateFingerprint {
  circuit::CircuitFingerprint fingerprint;
  circuit::FirstGeneration first;
};
// Of the gates, also of a built-in circuit. Generates the circuit once.
GateFingerprint fingerprint_of_gates(const circuit::Circuit& circuit);

}  // namespace tinyot::engine
