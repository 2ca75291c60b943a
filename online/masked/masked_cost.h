// The messages of a masked run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "circuitgen/layered_circuit.h"
#include "online/masked/mask_plan.h"
#include "online/run_cost.h"
#include "tinyot/circuit/gate.h"

namespace tinyot::online {

// When each party has the outputs, in half round trips from the inputs on: one for a round in which
// the peer announces inputs or opens pivots, one for the digest, and two for outputs, one if there
// are none.
class MaskedTimes {
 public:
  void add_round(const std::array<std::uint64_t, 2>& announced, std::uint64_t exchanged);
  std::array<std::uint64_t, 2> finish(std::uint64_t revealed);

 private:
  void receive(const std::array<bool, 2>& has_message);

  std::array<std::uint64_t, 2> now_{};
};

// Of one that is prepared, what is left once its inputs are known. `layered`: as
// OnlinePhaseEntry's.
std::unique_ptr<RunCostCounter> count_masked_cost(
    const circuit::CircuitInfo& info, std::size_t lanes, bool is_prepared,
    std::shared_ptr<const circuit::LayeredCircuit> layered = nullptr,
    std::size_t atoms_max = MaskPlanner::kAtomsMax);

}  // namespace tinyot::online
