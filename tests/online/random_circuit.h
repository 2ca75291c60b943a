// Random circuits with every kind of gate, for comparing the runtime with the plain evaluator.
#pragma once

#include "circuitgen/gate.h"
#include "crypto/rng.h"

namespace tinyot::test {

class RandomCircuit : public Circuit {
 public:
  // A few inputs of each party (one bundle the same in all lanes), `gates` random gates, outputs to A, to B and to both.
  RandomCircuit(std::uint64_t seed, std::size_t gates);

  const CircuitInfo& info() const override { return info_; }
  void generate(GateSink& sink) const override {
    for (const Gate& gate : gates_) sink.emit(gate);
  }

 private:
  CircuitInfo info_;
  std::vector<Gate> gates_;
};

}  // namespace tinyot::test
