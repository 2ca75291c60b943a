// The rounds of a circuit for a run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>

#include "circuitgen/layered_circuit.h"
#include "circuitgen/layering.h"

namespace tinyot::circuit {

// What is kept of a circuit from one run to the next.
struct KeptRounds {
  std::shared_ptr<const LayeredCircuit> layered;  // null if there is nothing yet
  // Called with what may be kept, or with null if that takes more than `bytes_max`. Empty if
  // nothing is kept.
  std::function<void(std::shared_ptr<const LayeredCircuit>)> keep;
  std::size_t bytes_max = 0;
};

// A circuit on a number of lanes, layered with a window. A circuit of at most kPreparedMax gates is
// layered in the constructor, so that the run only evaluates its rounds; a larger one is generated
// and layered during the run, while another thread evaluates: at most a window of gates ahead. A
// circuit that has been kept is not generated at all.
class CircuitRounds {
 public:
  // `circuit` outlives this object, and has `gates` gates; `kept` is of the same circuit, window
  // and `groups`, and of one lane or of several as this. Fails: as generate_rounds.
  CircuitRounds(const Circuit& circuit, std::uint64_t gates, std::size_t lanes, std::size_t window,
                KeptRounds kept = {}, GroupsAs groups = GroupsAs::Gates);

  const Circuit& circuit() const { return circuit_; }
  std::size_t lanes() const { return lanes_; }
  std::size_t window() const { return window_; }
  GroupsAs groups() const { return groups_; }
  // What is kept of the circuit; null if it is not.
  const std::shared_ptr<const LayeredCircuit>& layered() const { return kept_.layered; }
  // Whether layering with the other window gives the same rounds, as far as that is known: a group
  // that is one gate begins another window before this one is full.
  bool are_same_with(std::size_t window) const {
    return window == window_ || (groups_ == GroupsAs::Gates && kept_.layered &&
                                 kept_.layered->gates <= std::min(window, window_));
  }

  // Passes the rounds to a sink that leaves them as they are, before run(). A large circuit is
  // generated and layered for it, and kept if that is possible. Fails: as generate_rounds.
  void visit(RoundSink& sink);
  // In run(), `observer` sees each round before the sink does, and leaves it as it is.
  void observe(RoundSink& observer) { observer_ = &observer; }

  // Call it once. The circuit is generated on the caller's thread; the sink may be called on
  // another. Returns the CPU time of that thread in seconds. Fails: as the sink; std::logic_error
  // by ENSURE on a second call.
  double run(RoundSink& sink);

 private:
  static constexpr std::uint64_t kPreparedMax = std::uint64_t{1} << 18;

  void generate(RoundSink& sink);
  void pass(RoundSink& sink) const;

  const Circuit& circuit_;
  const std::size_t lanes_, window_;
  const GroupsAs groups_;
  KeptRounds kept_;
  bool has_run_ = false;
  RoundSink* observer_ = nullptr;
};

}  // namespace tinyot::circuit
