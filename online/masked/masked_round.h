// A round of a masked run between its two stages (doc/protocol.md, section 19): what has been
// opened before the inputs, and the triples that the products take after them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/bit_stream.h"
#include "base/bit_vector.h"
#include "base/block.h"
#include "base/secret.h"
#include "online/inputs.h"
#include "online/lanes.h"
#include "online/masked/group_masks.h"
#include "online/masked/group_products.h"
#include "online/masked/mask_plan.h"
#include "online/masked/round_triples.h"
#include "online/material_reader.h"
#include "online/wires.h"

namespace tinyot::online {

struct MaskedRound {
  const RoundPlan* plan = nullptr;
  material::Slices triples = {};
  std::array<BitVector, 2> opened = {};  // by operand and entry: mask ^ factor; 0 of pivots
  GroupMasks groups = {};
  std::vector<InputLayer> inputs = {};
};

// The first entry of the product that a pivot is a factor of.
inline std::size_t entry_of(const circuit::Round& round, const Lanes& lanes, const Pivot& pivot,
                            std::size_t tile) {
  return entry_of(round, lanes, pivot.is_of_invariant, pivot.product, tile);
}

// How a factor of a product is opened, by 2 . product + operand; lane-invariant products come last.
enum class Opening : std::uint8_t {
  Before,        // before the inputs, in every lane
  After,         // a pivot
  AfterInFirst,  // a pivot in the first lane; before the inputs in the others
  OfProduct,     // of several wires: before the inputs, at a later level (group_products.h)
};
std::vector<Opening> openings_of(const circuit::Round& round, const RoundPlan& plan);

// The bits of each party that are opened before the inputs, by level.
std::array<std::uint64_t, kLevelsMost> opened_before(const circuit::Round& round,
                                                     const RoundPlan& plan, const Lanes& lanes);

// Calls use(tile, slot, operand, entry, skipped, count) for what is opened before the inputs at the
// first level, in the order of the messages: tile by tile, product by product, operand by operand,
// lane by lane, then of lane-invariant products. `skipped`: lanes of the tile; `entry`: of the
// first lane after these.
template <class Use>
void for_each_opened_before(const circuit::Round& round, std::span<const Opening> openings,
                            const Lanes& lanes, Use use) {
  std::size_t entry = 0;
  const auto open = [&](std::size_t tile, const FactorWires& wires, std::size_t number,
                        std::size_t width) {
    for (std::size_t operand = 0; operand < 2; ++operand) {
      const Opening opening = openings[2 * number + operand];
      if (opening == Opening::After || opening == Opening::OfProduct) continue;
      const std::size_t skipped = opening == Opening::AfterInFirst && tile == 0 ? 1 : 0;
      if (skipped < width)
        use(tile, *wires[operand], operand, entry + skipped, skipped, width - skipped);
    }
    entry += width;
  };
  for (std::size_t tile = 0; tile < lanes.tiles(); ++tile)
    for_each_product(round, false, [&](std::uint32_t number, const FactorWires& wires) {
      open(tile, wires, number, lanes.width(tile));
    });
  for_each_product(round, true, [&](std::uint32_t number, const FactorWires& wires) {
    open(0, wires, round.products() + number, 1);
  });
}

// Calls use(pivot, targets) in the order of the plan.
template <class Use>
void for_each_pivot(const RoundPlan& plan, Use use) {
  std::span<const PivotTarget> targets = plan.targets;
  for (const Pivot& pivot : plan.pivots) {
    use(pivot, targets.first(pivot.target_count));
    targets = targets.subspan(pivot.target_count);
  }
}

// Changes the bits of pivots, masks or public ones: value(pivot, tile) is what those of the pivot
// become, and the difference is added to its targets. Called for the lane-invariant wires first,
// and then tile by tile, each time in the order of the plan.
template <class Value>
void change_bits(const RoundPlan& plan, const Lanes& lanes, WireBits& bits, Value value) {
  SecretVector<std::uint64_t> invariant;
  const auto change = [&](std::size_t tile, std::span<const PivotTarget> targets, bool invariants,
                          std::uint64_t difference) {
    for (const PivotTarget& target : targets)
      if (circuit::is_invariant(target.slot) == invariants)
        bits.put(tile, target.slot, target.is_cut ? 0 : bits.get(tile, target.slot) ^ difference);
  };
  for_each_pivot(plan, [&](const Pivot& pivot, std::span<const PivotTarget> targets) {
    if (!circuit::is_invariant(pivot.wire)) return;
    const std::uint64_t bit = (bits.get(0, pivot.wire) ^ value(pivot, std::size_t{0})) & 1;
    invariant.push_back(std::uint64_t{0} - bit);
    change(0, targets, true, invariant.back());
  });
  for (std::size_t tile = 0; tile < lanes.tiles(); ++tile) {
    std::size_t next = 0;
    for_each_pivot(plan, [&](const Pivot& pivot, std::span<const PivotTarget> targets) {
      const std::uint64_t difference = circuit::is_invariant(pivot.wire)
                                           ? invariant[next++]
                                           : bits.get(tile, pivot.wire) ^ value(pivot, tile);
      change(tile, targets, false, difference);
    });
  }
}

// The round with the local gates of masks and public bits, in which results that are cut are 0.
class CutGates {
 public:
  CutGates(const circuit::Round& round, const RoundPlan& plan);
  const circuit::Round& round() const { return cut_ ? *cut_ : round_; }

 private:
  const circuit::Round& round_;
  std::optional<circuit::Round> cut_;  // with local gates only
};

}  // namespace tinyot::online
