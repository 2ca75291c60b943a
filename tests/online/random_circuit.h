// Random circuits with every kind of gate, for comparing the runtime with the plain evaluator.
#pragma once

#include "crypto/rng.h"
#include "tests/support/layers.h"
#include "tinyot/circuit/gate.h"

namespace tinyot::test {

class RandomCircuit : public Circuit {
 public:
  // A few inputs of each party (one bundle the same in all lanes), `gates` random gates, outputs to
  // A, to B and to both.
  RandomCircuit(std::uint64_t seed, std::size_t gates);

  // A circuit of any shape: bundles of both parties, of one or of none, the same in all lanes or
  // not; bits that are read late or never; 0 to 100 gates, mixed, mostly of one kind, on common
  // wires, or without ANDs; outputs that come early in the stream, are inputs or constants, or are
  // one wire twice, or none for a party; many of its gates in groups, or none.
  static RandomCircuit of_any_shape(std::uint64_t seed);

  const CircuitInfo& info() const override { return info_; }
  void generate(GateSink& sink) const override {
    for (const Gate& gate : gates_) sink.emit(gate);
  }

 private:
  RandomCircuit() = default;
  friend class CircuitDrawer;

  CircuitInfo info_;
  std::vector<Gate> gates_;
};

}  // namespace tinyot::test
