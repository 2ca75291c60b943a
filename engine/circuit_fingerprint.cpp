#include "engine/circuit_fingerprint.h"

#include <string_view>

#include "base/hex.h"
#include "crypto/random_oracle.h"
#include "engine/loaded_circuit.h"

namespace tinyot::engine {
namespace {

using circuit::CircuitFingerprint;

// The version is stepped when the encoding changes.
constexpr crypto::Phase kWhole = "circuit v2", kInterface = "circuit interface v2";

class HashSink final : public circuit::ByteSink {
 public:
  explicit HashSink(crypto::Phase phase) : oracle_({}, {phase, '*', 0}) {}
  void add(std::span<const std::byte> bytes) override { oracle_.absorb(bytes); }
  CircuitFingerprint fingerprint() { return {oracle_.digest().bytes}; }

 private:
  crypto::RandomOracle oracle_;
};

}  // namespace

CircuitFingerprint interface_fingerprint(const circuit::CircuitInfo& info) {
  HashSink hash(kInterface);
  circuit::encode_interface(info, hash);
  return hash.fingerprint();
}

CircuitFingerprint fingerprint_of(const circuit::CircuitInfo& info, const circuit::BuiltIn& what) {
  HashSink hash(kWhole);
  circuit::encode_interface(info, hash);
  circuit::encode_built_in(what.name, what.revision, hash);
  return hash.fingerprint();
}

GateFingerprint fingerprint_of_gates(const circuit::Circuit& circuit) {
  HashSink hash(kWhole);
  circuit::encode_interface(circuit.info(), hash);
  circuit::FirstGeneration first = circuit::encode_gates(circuit, hash);
  return {hash.fingerprint(), std::move(first)};
}

}  // namespace tinyot::engine

namespace tinyot::circuit {

std::string text_of(const CircuitFingerprint& fingerprint) {
  return tinyot::hex_of(std::as_bytes(std::span(fingerprint.bytes)));
}

std::optional<CircuitFingerprint> parse_circuit_fingerprint(std::string_view text) {
  CircuitFingerprint fingerprint;
  if (!parse_hex(text, std::as_writable_bytes(std::span(fingerprint.bytes)))) return std::nullopt;
  return fingerprint;
}

std::string short_name(const CircuitFingerprint& fingerprint) {
  return text_of(fingerprint).substr(0, 16);
}

CircuitFingerprint fingerprint_of(const Circuit& circuit) {
  if (const auto* const known = dynamic_cast<const engine::KnownCircuit*>(&circuit))
    return known->fingerprint();
  if (const auto what = built_in(circuit)) return engine::fingerprint_of(circuit.info(), *what);
  return engine::fingerprint_of_gates(circuit).fingerprint;
}

}  // namespace tinyot::circuit
