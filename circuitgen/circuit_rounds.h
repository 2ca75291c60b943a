// A circuit as a run carries it out.
#pragma once

#include <cstdint>
#include <vector>

#include "circuitgen/layering.h"

namespace tinyot::circuit {

// The rounds of a circuit on some lanes, in a window. A circuit of no more than kPreparedMax gates
// is layered beforehand, so that a run of it only has to carry its rounds out; any other one is
// generated as it runs.
class CircuitRounds {
 public:
  // `circuit` outlives this object, and has `gates` gates. Fails: as generate_rounds.
  CircuitRounds(const Circuit& circuit, std::uint64_t gates, std::size_t lanes, std::size_t window);

  const Circuit& circuit() const { return circuit_; }
  std::size_t lanes() const { return lanes_; }

  // Once. Fails: std::logic_error by ENSURE the second time.
  void run(RoundSink& sink);

 private:
  static constexpr std::uint64_t kPreparedMax = std::uint64_t{1} << 18;

  const Circuit& circuit_;
  std::size_t lanes_;
  std::size_t window_;
  bool prepared_;
  bool has_run_ = false;
  std::vector<Round> rounds_;
};

}  // namespace tinyot::circuit
