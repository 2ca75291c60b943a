// The Hamming distance of two bit strings: the number of positions in which they differ.
//
//   parameters  bits
//   inputs      a (bits, A), b (bits, B)
//   output      distance (bit_width(bits), to both)
//
// bits - popcount(bits) ANDs at AND-depth O(log bits): 896 for 900. Source: section 7.1 of Asharov,
// Lindell, Schneider, Zohner, "More efficient oblivious transfer and extensions for faster secure
// computation", CCS 2013.
#pragma once

#include "circuitgen/generators/family.h"

namespace tinyot::circuit {

CircuitFamily hamming_family();

}  // namespace tinyot::circuit
