// The minimum of many values, half of them from each party.
//
//   parameters  count, bits, and those of ValueOrder
//   inputs      values_a (ceil(count / 2) . bits, A), values_b (floor(count / 2) . bits, B): value
//               k begins at bit k . bits
//   output      minimum (bits, to both)
//
// 2 . bits . (count - 1) ANDs: a comparison and a selection for each node of a tree. Source:
// section 7.3 of Asharov, Lindell, Schneider, Zohner, CCS 2013: 39,999,960 for a million values of
// 20 bits; the tree is that of Kolesnikov, Sadeghi, Schneider, CANS 2009.
//
// Nodes of one level are computed in parallel, kParallelComparisons at a time: at most 2 .
// kParallelComparisons values of each level are held.
#pragma once

#include "circuitgen/generators/family.h"

namespace tinyot::circuit {

CircuitFamily minimum_family();

}  // namespace tinyot::circuit
