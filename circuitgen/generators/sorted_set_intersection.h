// Private set intersection of two lists of values, each sorted by its party: merge, compare
// neighbours, compact.
//
//   parameters  count: values of each party, bits, and those of ValueOrder
//   inputs      values_a (count . bits, A), values_b (count . bits, B): value k begins at bit k .
//               bits; in ascending order. A party that has fewer numbers repeats some
//   outputs     in_order (1, to both): whether both lists are in ascending order
//               size (bit_width(count), to both): of the intersection, without repetitions
//               intersection (count . bits, to both): in ascending order, then zeros
//
// The outputs are a function of the two sets, so they reveal nothing else. If a list is not in
// order, size and intersection are zero: what a merge network makes of unsorted numbers would
// depend on numbers outside the intersection. An honest party's list is in order, so in_order = 0
// tells the other party nothing.
//
// ANDs for n = count and w = bits: 2 (w + 1) (n log2 n + 1) to merge, if n is a power of two (the
// key has one more bit, which is 1 for B, so equal numbers of A precede those of B); about 2 n (w +
// 1) to check the order; 2 n w to compare neighbours; n w to clear what is not in the intersection;
// and those of compact(). 97.1 million for n = 2^16 and w = 32.
//
// Source: the sort-compare-shuffle circuit of Huang, Evans, Katz, "Private set intersection: are
// garbled circuits better than custom protocols?", NDSS 2012. Differs: compaction replaces the
// shuffle, since the numbers are sorted anyway; the odd-even merge replaces the bitonic one; the
// order is checked, and numbers may occur repeatedly.
#pragma once

#include "circuitgen/generators/family.h"

namespace tinyot::circuit {

CircuitFamily sorted_set_intersection_family();

}  // namespace tinyot::circuit
