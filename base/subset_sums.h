// Sums of the leaves of a GGM tree of 2^k leaves r_0, r_1, ..., for SoftSpokenOT
// (offline/softspoken/softspoken).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/block.h"

namespace tinyot {

// Shapes: leaves: 2^k strings of n blocks, contiguous; k: 1, 2 or 4; rows: k arrays of n blocks.
// Row b becomes the sum of the r_x over all x in which bit b is set.

// total = the sum of all r_x, and of `addend` if that is not empty.
void subset_sums(std::uint32_t k, std::span<const Block> leaves, std::span<const Block> addend,
                 std::span<Block> total, std::span<Block* const> rows);

// The rows alone; `addend` is added to row b if bit b of `selected` is 1. r_0 counts as zero and is
// not read.
// Timing: constant in `selected`.
void subset_sums_with(std::uint32_t k, std::span<const Block> leaves, std::span<const Block> addend,
                      std::uint32_t selected, std::span<Block* const> rows);

}  // namespace tinyot
