// Sums of the leaves' strings of a GGM tree: what SoftSpokenOT makes of them (offline/softspoken),
// for a tree of 2^k leaves r_0, r_1, ....
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/block.h"

namespace tinyot {

// Shapes: leaves: 2^k strings of n blocks, one after the other. k: 1, 2 or 4. rows: k spans of n
// blocks, row b becoming the sum of the r_x whose x has bit b.

// total = the sum of all r_x, and of `addend` if that is not empty.
void subset_sums(std::uint32_t k, std::span<const Block> leaves, std::span<const Block> addend,
                 std::span<Block> total, std::span<Block* const> rows);

// The rows alone; each row b whose bit of `selected` is 1 has `addend` added. r_0 counts as zero,
// whatever stands there. Timing: constant in `selected`.
void subset_sums_with(std::uint32_t k, std::span<const Block> leaves, std::span<const Block> addend,
                      std::uint32_t selected, std::span<Block* const> rows);

}  // namespace tinyot
