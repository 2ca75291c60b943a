// SHA-256 (FIPS 180-4) of a message of public length as a circuit, padding included.
//
//   parameters  bytes: of the message
//   inputs      message (8 . bytes, A); left out if it is empty
//   output      digest (256, to both)
//
// Byte k is wires 8k..8k+7 of a bundle, lowest bit first. 22,520 ANDs at AND-depth 1,600 for each
// 64 bytes, fewer in the first block: one AND a full adder, 64 of 7 sums a round. Several summands
// are first brought down to two without waiting for carries.
#pragma once

#include <array>

#include "circuitgen/generators/family.h"
#include "circuitgen/word.h"

namespace tinyot::circuit {

// The compression function (section 6.2.2): `hash` becomes that of one more block.
using Sha256State = std::array<Word<32>, 8>;  // a, b, c, d, e, f, g, h
using Sha256Block = std::array<Word<32>, 16>;
void sha256_compress(Sha256State& hash, Sha256Block block);

CircuitFamily sha256_family();

}  // namespace tinyot::circuit
