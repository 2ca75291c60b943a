// The rounds of a circuit, kept in memory for runs.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "circuitgen/layering.h"

namespace tinyot::circuit {

struct LayeredCircuit {
  std::vector<Round> rounds;  // each with the bounds of the slots of all, so that room is made once
  std::size_t gates = 0;      // with inputs and outputs
  std::size_t bytes = 0;      // of memory
};

// Collects the rounds that are passed to it, and leaves them as they are, up to an amount of
// memory.
class LayeredCircuitMaker final : public RoundSink {
 public:
  explicit LayeredCircuitMaker(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  void round(Round& round) override;
  // After the last round, once; null if they take more memory.
  std::shared_ptr<const LayeredCircuit> finish();

 private:
  const std::size_t bytes_max_;
  std::shared_ptr<LayeredCircuit> circuit_ = std::make_shared<LayeredCircuit>();
};

}  // namespace tinyot::circuit
