// What an online phase takes and gives, by the numbers of a circuit's bundles.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "online/shared_value.h"
#include "tinyot/lane_matrix.h"

namespace tinyot::online {

// By bundle; absent for bundles that this party does not give, or does not receive.
using BundleValues = std::vector<std::optional<LaneMatrix>>;

struct Evaluation {
  BundleValues outputs;    // by output bundle; absent where this party does not receive it
  SharedOutputs shared;    // by output bundle; of those that no party receives
  std::uint64_t ands = 0;  // of all lanes
  std::uint64_t xors = 0;
  std::uint64_t and_rounds = 0;  // rounds that had ANDs
  // Until A has its outputs, and until B has; of a run that was prepared, after its inputs.
  std::array<std::uint64_t, 2> half_round_trips{};
  double wire_s = 0;     // spent waiting for the peer's openings
  double store_s = 0;    // spent waiting for material
  double opening_s = 0;  // spent opening material
  double blocks_s = 0;   // spent on MACs and keys and on hashing openings
};

// Called after each round, on the thread that evaluates, with the ANDs evaluated so far.
using RunProgress = std::function<void(std::uint64_t ands)>;

}  // namespace tinyot::online
