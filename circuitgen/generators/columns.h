// Many integers of one width, stored bit by bit, for generators that process all of them in the
// same way.
//
// Parallel gates are emitted together: first those of bit 0 of all integers, then those of bit 1,
// and so on. So a window over the stream has wide rounds, and the handles are in the order of their
// use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "circuitgen/generators/value_order.h"
#include "tinyot/circuit/builder.h"

namespace tinyot::circuit {

// [i][k] is bit i of integer k.
using Columns = std::vector<Bits>;

// The number of comparisons in parallel. More would make rounds wider and need more live wires.
inline constexpr std::size_t kParallelComparisons = std::size_t{1} << 12;

// Appends values [first, first + count) of an input bundle, as the numbers that stand for them.
void append_inputs(Columns& values, Builder& builder, const ValueOrder& order, std::uint32_t bundle,
                   std::uint64_t first, std::uint64_t count);

// Two integers, by index.
struct IndexPair {
  std::size_t x;
  std::size_t y;
};

// xs[x] < ys[y] for each pair: one AND per bit and pair. The widths are equal.
Bits less_each(const Columns& xs, const Columns& ys, std::span<const IndexPair> pairs);

// The same for disjoint pairs of one list: values[x] < values[y]. Leaves values[x] ^ values[y] in
// place of values[x], for choosing between the two with one XOR less.
Bits less_each_with_differences(Columns& values, std::span<const IndexPair> pairs);

}  // namespace tinyot::circuit
