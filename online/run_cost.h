// What a run costs, counted from the rounds of its circuit: each phase counts its own messages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "circuitgen/layering.h"

namespace tinyot::online {

struct RunCost {
  std::uint64_t ands = 0;        // of all lanes
  std::uint64_t and_rounds = 0;  // rounds that have ANDs
  // Half round trips until A has its outputs, and until B has.
  std::array<std::uint64_t, 2> half_round_trips{};
  std::array<std::uint64_t, 2> bytes_sent{};  // by A, by B; message headers included
};

// From so many lanes on, an AND costs less, because gates are computed for all lanes at once.
inline constexpr std::size_t kWideLanes = 8;

// Bits that the parties announce for the inputs of a round, by owner.
std::array<std::uint64_t, 2> announced_bits(const circuit::CircuitInfo& info, std::size_t lanes,
                                            const circuit::Round& round);
// Bits of the outputs that are revealed, in all lanes.
std::uint64_t revealed_bits(const circuit::CircuitInfo& info, std::size_t lanes);

// Sees all rounds of a run, in order, and leaves them as they are.
class RunCostCounter : public circuit::RoundSink {
 public:
  // Once, after the last round.
  virtual RunCost finish() = 0;
};

}  // namespace tinyot::online
