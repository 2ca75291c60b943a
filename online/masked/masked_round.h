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
#include "online/masked/mask_plan.h"
#include "online/material_reader.h"
#include "online/wires.h"

namespace tinyot::online {

// The blocks of a round's triples, by entry (online/runtime.h). 0, 1, 2: the factors u and v, and
// w = uv.
class TripleBlocksOf {
 public:
  explicit TripleBlocksOf(const material::Slices& triples);

  // The blocks of the entries from `entry` on that are contiguous, at most `count` of them.
  struct Run {
    std::array<const Block*, 3> columns;
    std::size_t count;
  };
  Run at(std::size_t entry, std::size_t count) const;
  // to[i] = from[i] ^ the factor of the entry `entry` + i.
  void add_factor(std::size_t operand, std::size_t entry, std::span<const Block> from,
                  Block* to) const;

 private:
  const material::Slices* triples_;
  std::vector<std::size_t> ends_;
};

struct MaskedRound {
  const RoundPlan* plan;
  material::Slices triples = {};
  std::array<BitVector, 2> opened = {};  // by operand and entry: mask ^ factor; 0 of pivots
  std::vector<InputLayer> inputs = {};
};

// The first entry of the AND that a pivot is an operand of.
inline std::size_t entry_of(const circuit::Round& round, const Lanes& lanes, const Pivot& pivot,
                            std::size_t tile) {
  if (pivot.is_of_invariant_and) return round.ands.size() * lanes.count() + pivot.and_index;
  return round.ands.size() * lanes.first(tile) + pivot.and_index * lanes.width(tile);
}

// `count` bits, at most 64, from `first` on.
inline std::uint64_t bits_at(const BitVector& bits, std::size_t first, std::size_t count) {
  std::array<std::uint64_t, 1> word{};
  copy_bits(bits.words(), first, word, 0, count);
  return word[0];
}

// How an operand of an AND is opened, by 2 . AND + operand; lane-invariant ANDs come last.
enum class Opening : std::uint8_t {
  Before,        // before the inputs, in every lane
  After,         // a pivot
  AfterInFirst,  // a pivot in the first lane; before the inputs in the others
};
std::vector<Opening> openings_of(const circuit::Round& round, const RoundPlan& plan);

// Calls use(tile, gate, operand, entry, skipped, count) for what is opened before the inputs, in
// the order of the messages: tile by tile, gate by gate, operand by operand, lane by lane, then of
// lane-invariant ANDs. `skipped`: lanes of the tile; `entry`: of the first lane after these.
template <class Use>
void for_each_opened_before(const circuit::Round& round, std::span<const Opening> openings,
                            const Lanes& lanes, Use use) {
  std::size_t entry = 0;
  const auto open = [&](std::size_t tile, const circuit::RoundAnd& gate, std::size_t number,
                        std::size_t width) {
    for (std::size_t operand = 0; operand < 2; ++operand) {
      const Opening opening = openings[2 * number + operand];
      if (opening == Opening::After) continue;
      const std::size_t skipped = opening == Opening::AfterInFirst && tile == 0 ? 1 : 0;
      if (skipped < width) use(tile, gate, operand, entry + skipped, skipped, width - skipped);
    }
    entry += width;
  };
  for (std::size_t tile = 0; tile < lanes.tiles(); ++tile)
    for (std::size_t i = 0; i < round.ands.size(); ++i)
      open(tile, round.ands[i], i, lanes.width(tile));
  for (std::size_t i = 0; i < round.invariant_ands.size(); ++i)
    open(0, round.invariant_ands[i], round.ands.size() + i, 1);
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
