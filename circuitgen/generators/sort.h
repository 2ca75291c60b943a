// Sorts values, half of them from each party, by a network of comparators.
//
//   parameters  count, bits, and those of ValueOrder
//   inputs      values_a (ceil(count / 2) . bits, A), values_b (floor(count / 2) . bits, B): value
//               k begins at bit k . bits
//   output      sorted (count . bits, to both): the smallest value first
//
// 2 . bits ANDs per comparator, about (log2 count)^2 / 4 comparators per value. Source: Batcher's
// merge exchange for any count, Knuth, The Art of Computer Programming 3, 5.2.2, Algorithm M.
#pragma once

#include "circuitgen/generators/columns.h"
#include "circuitgen/generators/family.h"

namespace tinyot::circuit {

// Sorts integers of which those at even indices and those at odd indices are sorted: n log2 n + 1
// comparators for 2 n integers, if n is a power of two (Batcher's odd-even merge).
void merge_interleaved(Columns& values);

CircuitFamily sort_family();

}  // namespace tinyot::circuit
