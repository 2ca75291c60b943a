// Private set intersection by the bitwise AND of two sets of small numbers.
//
//   parameters  element_bits
//   inputs      a (2^element_bits, A), b (2^element_bits, B): bit e is 1 if e is in the set
//   output      intersection (2^element_bits, to both)
//
// 2^element_bits ANDs at AND-depth 1. Source: section 7.2 of Asharov, Lindell, Schneider, Zohner,
// CCS 2013, and the circuit BWA of Huang, Evans, Katz, "Private set intersection: are garbled
// circuits better than custom protocols?", NDSS 2012.
#pragma once

#include "circuitgen/generators/family.h"

namespace tinyot::circuit {

CircuitFamily set_intersection_family();

}  // namespace tinyot::circuit
