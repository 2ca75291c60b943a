// SHA-256 (FIPS 180-4) of a message of public length as a circuit, padding included.
//
//   parameters  bytes: of the message
//   inputs      message (8 . bytes, A); left out if it is empty
//   output      digest (256, to both)
//
// Byte k is wires 8k..8k+7 of a bundle, lowest bit first. 22,520 ANDs at AND-depth 1,600 for each 64 bytes, fewer in the first
// block: one AND a full adder, 64 of 7 sums a round. Several summands are first brought down to two without waiting for carries.
#pragma once

#include "circuitgen/family.h"

namespace tinyot {

CircuitFamily sha256_family();

}  // namespace tinyot
