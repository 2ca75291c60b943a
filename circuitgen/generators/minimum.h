// The minimum of many unsigned integers, of which each party has half.
//
//   parameters  count, bits
//   inputs      values_a (ceil(count / 2) . bits, A), values_b (floor(count / 2) . bits, B): value
//   k from bit k . bits on output      minimum (bits, to both)
//
// 2 . bits . (count - 1) ANDs: a comparison and a choice a node of a tree. Source: 7.3 of Asharov,
// Lindell, Schneider, Zohner, CCS 2013: 39,999,960 for a million values of 20 bits; the tree is
// that of Kolesnikov, Sadeghi, Schneider, CANS 2009.
//
// Nodes of one level are played side by side, kSideBySide at a time, as soon as there are so many:
// at most 2 . kSideBySide values of each level wait.
#pragma once

#include "circuitgen/generators/family.h"

namespace tinyot::circuit {

CircuitFamily minimum_family();

}  // namespace tinyot::circuit
