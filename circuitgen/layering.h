// Layering: from a stream of gates to rounds. All ANDs of a round are independent, so that one
// message each way opens them together.
//
// Layering buffers up to `window` gates, sorts them by AND-level, assigns dense slots to wires (a
// slot is reused as soon as its wire is dead) and passes the rounds to a RoundSink in order. A
// circuit wider or deeper than the window is still evaluated, in more rounds than its AND-depth.
// Memory: O(window + live wires).
//
// With several lanes, some wires are the same in all lanes: inputs declared to be so, constants,
// and gates of these alone. Such a wire is lane-invariant, or invariant for short: it has a slot of
// its own kind, and its gate is evaluated once, not once per lane.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "circuitgen/group.h"
#include "tinyot/circuit/gate.h"

namespace tinyot::circuit {

// A slot of a wire over all lanes, or, with the highest bit set, of a lane-invariant wire.
using Slot = std::uint32_t;
inline constexpr Slot kInvariantBit = Slot{1} << 31;
constexpr bool is_invariant(Slot slot) { return (slot & kInvariantBit) != 0; }
constexpr std::size_t index_of(Slot slot) { return slot & ~kInvariantBit; }

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
// A group as one gate: as many results and inputs as its shape has.
struct RoundGroup {
  std::array<Slot, kGroupResultsMax> results;
  std::array<Slot, kGroupInputsMax> inputs;
  std::shared_ptr<const GroupShape> shape;
};

// One round, to be evaluated in the order of its members: inputs, local gates sequentially, outputs
// (to be copied at once: the slot may be reused later), ANDs and groups. No result of an AND or a
// group is an operand of another one of the same round. An invariant gate or group has invariant
// operands only; any other gate has at most one, and any other group one operand that is not.
struct Round {
  std::vector<RoundInput> inputs;
  std::vector<LocalGate> invariant_local;
  std::vector<LocalGate> local;
  std::vector<RoundOutput> outputs;
  std::vector<RoundAnd> invariant_ands;
  std::vector<RoundGroup> invariant_groups;
  std::vector<RoundAnd> ands;
  std::vector<RoundGroup> groups;
  // upper bound of all slot indices so far; never shrinks
  std::size_t slots = 0;
  std::size_t invariant_slots = 0;  // the same for lane-invariant wires

  std::size_t gates() const {
    return inputs.size() + invariant_local.size() + local.size() + outputs.size() +
           invariant_ands.size() + invariant_groups.size() + ands.size() + groups.size();
  }
  // Whether its memory is kept for another round: not if it has had a much larger one before, or
  // many rounds would in time have the memory of the largest.
  bool is_reusable() const {
    const std::size_t capacity = inputs.capacity() + invariant_local.capacity() + local.capacity() +
                                 outputs.capacity() + invariant_ands.capacity() +
                                 invariant_groups.capacity() + ands.capacity() + groups.capacity();
    return capacity <= 4 * gates() + 64;
  }
  // Products of two shared bits, each of which takes a triple: ANDs, and the products of groups.
  std::size_t invariant_products() const { return products_of(invariant_ands, invariant_groups); }
  std::size_t products() const { return products_of(ands, groups); }  // in each lane
  std::size_t and_count(std::size_t lanes) const {
    return invariant_products() + products() * lanes;
  }
  std::size_t xor_count(std::size_t lanes) const {
    const auto in = [](const std::vector<LocalGate>& gates) {
      return static_cast<std::size_t>(std::ranges::count(gates, GateKind::Xor, &LocalGate::kind));
    };
    return in(invariant_local) + in(local)*lanes;
  }

 private:
  static std::size_t products_of(const std::vector<RoundAnd>& of,
                                 const std::vector<RoundGroup>& more) {
    std::size_t count = of.size();
    for (const RoundGroup& group : more) count += group.shape->products().size();
    return count;
  }
};

class RoundSink {
 public:
  virtual ~RoundSink() = default;
  // May take the vectors, and leave others, whose memory is used again.
  virtual void round(Round& round) = 0;
};

// What a group is in the rounds: its gates, or one gate for its polynomials. A group is as long as
// its results in a window, which it exceeds rather than being divided.
enum class GroupsAs { Gates, Polynomials };

// Layers `circuit` on `lanes` lanes with a window of `window` gates and passes the rounds to
// `sink`. With one lane, no wire is invariant. Fails: std::logic_error by ENSURE on a malformed
// stream (a wire is read before it is written or after it is freed).
void generate_rounds(const Circuit& circuit, std::size_t lanes, std::size_t window, RoundSink& sink,
                     GroupsAs groups = GroupsAs::Gates);

}  // namespace tinyot::circuit
