// The products of a round, each of which takes a triple in each lane: its ANDs, and of each group
// the products of its inputs (circuitgen/group.h), in their order.
//
// Those of a kind, lane-invariant or not, are numbered. Entries (online/runtime.h) come tile by
// tile, product by product, lane by lane, and then those of lane-invariant products.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "circuitgen/layering.h"
#include "online/lanes.h"

namespace tinyot::online {

// The wires of a product's factors. In a group, a factor may be a product of several wires, which
// has none.
using FactorWires = std::array<std::optional<circuit::Slot>, 2>;
FactorWires wires_of(const circuit::RoundGroup& group, circuit::GroupPart product);

// Calls use(number, wires) for the products of a kind.
template <class Use>
void for_each_product(const circuit::Round& round, bool is_invariant, Use use) {
  std::uint32_t number = 0;
  for (const circuit::RoundAnd& gate : is_invariant ? round.invariant_ands : round.ands)
    use(number++, FactorWires{gate.in0, gate.in1});
  for (const circuit::RoundGroup& group : is_invariant ? round.invariant_groups : round.groups)
    for (const circuit::GroupPart product : group.shape->products())
      use(number++, wires_of(group, product));
}

// The first entry of a product in a tile; of a lane-invariant one, its only entry.
inline std::size_t entry_of(const circuit::Round& round, const Lanes& lanes, bool is_invariant,
                            std::size_t product, std::size_t tile) {
  if (is_invariant) return round.products() * lanes.count() + product;
  return round.products() * lanes.first(tile) + product * lanes.width(tile);
}

// The products of masks are made level by level: at each, those whose factors are known from the
// levels before are opened together.
inline constexpr std::size_t kLevelsMost = 3;
inline std::size_t level_of(circuit::GroupPart product) {
  return static_cast<std::size_t>(
      std::bit_width(static_cast<unsigned>(std::popcount(product)) - 1));
}

// A group in a tile, or a lane-invariant one.
struct PlacedGroup {
  const circuit::RoundGroup& group;
  std::size_t tile, width;  // 0 and 1 of a lane-invariant group
  std::size_t first_entry;  // of its first product
  std::size_t first_part;   // of its first part, where parts are ordered as entries

  const circuit::GroupShape& shape() const { return *group.shape; }
  std::size_t entry(std::size_t product) const { return first_entry + product * width; }
  std::size_t part(std::size_t number) const { return first_part + number * width; }
};

// The parts of a round's groups in one lane, and those of its lane-invariant groups.
std::size_t parts_of(const std::vector<circuit::RoundGroup>& groups);
inline std::size_t part_count(const circuit::Round& round, const Lanes& lanes) {
  return parts_of(round.groups) * lanes.count() + parts_of(round.invariant_groups);
}

// Calls use(placed) for each group in a tile.
template <class Use>
void for_each_group_in(const circuit::Round& round, const Lanes& lanes, std::size_t tile, Use use) {
  if (round.groups.empty()) return;
  const std::size_t width = lanes.width(tile);
  std::size_t entry = entry_of(round, lanes, false, round.ands.size(), tile),
              part = parts_of(round.groups) * lanes.first(tile);
  for (const circuit::RoundGroup& group : round.groups) {
    use(PlacedGroup{group, tile, width, entry, part});
    entry += group.shape->products().size() * width;
    part += group.shape->parts.size() * width;
  }
}
template <class Use>
void for_each_invariant_group(const circuit::Round& round, const Lanes& lanes, Use use) {
  std::size_t entry = entry_of(round, lanes, true, round.invariant_ands.size(), 0),
              part = parts_of(round.groups) * lanes.count();
  for (const circuit::RoundGroup& group : round.invariant_groups) {
    use(PlacedGroup{group, 0, 1, entry, part});
    entry += group.shape->products().size();
    part += group.shape->parts.size();
  }
}
// In the order of their entries.
template <class Use>
void for_each_group(const circuit::Round& round, const Lanes& lanes, Use use) {
  for (std::size_t tile = 0; tile < lanes.tiles(); ++tile)
    for_each_group_in(round, lanes, tile, use);
  for_each_invariant_group(round, lanes, use);
}

}  // namespace tinyot::online
