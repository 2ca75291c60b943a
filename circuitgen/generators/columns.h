// Many integers of one width, held bit by bit, for generators that do the same with all of them.
//
// Gates that stand side by side are emitted one after the other: first what all integers do with
// their bit 0, then with bit 1, so that a window over the stream has wide rounds, and the handles
// lie in the order in which they are used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "circuitgen/builder.h"

namespace tinyot::circuit {

// [i][k] is bit i of integer k.
using Columns = std::vector<Bits>;

// How many comparisons stand side by side: more would make rounds wider, and more wires live at
// once.
inline constexpr std::size_t kSideBySide = std::size_t{1} << 12;

// Appends integers `first` to `first + count` of an input bundle, integer k from bit k . width on.
void append_inputs(Columns& values, Builder& builder, std::uint32_t bundle, std::uint64_t first,
                   std::uint64_t count);

// Two integers, by number.
struct Pair {
  std::size_t x;
  std::size_t y;
};

// xs[x] < ys[y] for each pair: one AND a bit of each. The widths are equal.
Bits less_each(const Columns& xs, const Columns& ys, std::span<const Pair> pairs);

}  // namespace tinyot::circuit
