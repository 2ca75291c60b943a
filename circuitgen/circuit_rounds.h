// The rounds of a circuit for a run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "circuitgen/layering.h"

namespace tinyot::circuit {

// A circuit on a number of lanes, layered with a window. A circuit of at most kPreparedMax gates is
// layered in the constructor, so that the run only evaluates its rounds; a larger one is generated
// and layered during the run, while another thread evaluates: at most a window of gates ahead.
class CircuitRounds {
 public:
  // `circuit` outlives this object, and has `gates` gates. Fails: as generate_rounds.
  CircuitRounds(const Circuit& circuit, std::uint64_t gates, std::size_t lanes, std::size_t window);

  const Circuit& circuit() const { return circuit_; }
  std::size_t lanes() const { return lanes_; }
  std::size_t window() const { return window_; }
  // Whether layering with the other window gives the same rounds, as far as that is known.
  bool are_same_with(std::size_t window) const {
    return window == window_ || (prepared_ && gates_ <= std::min(window, window_));
  }

  // Passes the rounds to a sink that leaves them as they are, before run(). A large circuit is
  // generated and layered for it. Fails: as generate_rounds.
  void visit(RoundSink& sink) const;
  // In run(), `observer` sees each round before the sink does, and leaves it as it is.
  void observe(RoundSink& observer) { observer_ = &observer; }

  // Call it once. The circuit is generated on the caller's thread; the sink may be called on
  // another. Returns the CPU time of that thread in seconds. Fails: as the sink; std::logic_error
  // by ENSURE on a second call.
  double run(RoundSink& sink);

 private:
  static constexpr std::uint64_t kPreparedMax = std::uint64_t{1} << 18;

  const Circuit& circuit_;
  std::size_t lanes_;
  std::size_t window_;
  bool prepared_;
  std::size_t gates_ = 0;  // of a prepared circuit, with inputs and outputs
  bool has_run_ = false;
  mutable std::vector<Round> rounds_;  // const but in run(): a sink takes what may be changed
  RoundSink* observer_ = nullptr;
};

}  // namespace tinyot::circuit
