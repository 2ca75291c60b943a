// From a stream of gates to rounds: all ANDs of a round are independent, so that one message each way opens them together.
//
// Layering buffers up to `window` gates, sorts them by AND-level, gives wires dense slots (a slot is reused as soon as its
// wire is dead) and hands the rounds to a RoundSink in order. A circuit wider or deeper than the window is still evaluated,
// in more rounds than its AND-depth. Memory: O(window + live wires).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "circuitgen/gate.h"

namespace tinyot {

using Slot = std::uint32_t;

struct RoundInput {
  std::uint32_t bundle;
  std::uint32_t bit;
  Slot out;
};
struct LocalGate {
  GateKind kind;  // Const (in0 is the bit), Xor, Not
  Slot out;
  Slot in0;
  Slot in1;
};
struct RoundOutput {
  std::uint32_t bundle;
  std::uint32_t bit;
  Slot in;
};
struct RoundAnd {
  Slot out;
  Slot in0;
  Slot in1;
};

// One round, to be carried out in the order of its members: inputs, local gates one after the other, outputs (copied away at
// once: the slot may be reused later), ANDs. No `out` of an AND is also an `in` of another AND of the same round.
struct Round {
  std::vector<RoundInput> inputs;
  std::vector<LocalGate> local;
  std::vector<RoundOutput> outputs;
  std::vector<RoundAnd> ands;
  std::size_t slots;  // slots in use so far: every slot index is below this; it never shrinks
};

class RoundSink {
 public:
  virtual ~RoundSink() = default;
  virtual void round(const Round& round) = 0;
};

// Runs `circuit` through a Layering of `window` gates into `sink`. Fails: std::logic_error by ENSURE on a malformed stream
// (a wire read before it is written or after it is freed).
void generate_rounds(const Circuit& circuit, std::size_t window, RoundSink& sink);

}  // namespace tinyot
