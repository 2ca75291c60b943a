// SHA-256 (FIPS 180-4) of a message of public length as a circuit, padding included.
//
//   parameters  bytes: of the message
//   inputs      message (8 . bytes, A); omitted if it is empty
//   output      digest (256, to both)
//
// Byte k is wires 8k..8k+7 of a bundle, lowest bit first. 22,520 ANDs at AND-depth 1,600 for each
// 64 bytes, fewer in the first block: one AND per full adder. Three and more summands are first
// reduced to two by carry-save adders.
#pragma once

#include <array>

#include "circuitgen/generators/family.h"
#include "tinyot/circuit/word.h"

namespace tinyot::circuit {

// The compression function (section 6.2.2): updates `hash` with one more block.
using Sha256State = std::array<Word<32>, 8>;  // a, b, c, d, e, f, g, h
using Sha256Block = std::array<Word<32>, 16>;
void sha256_compress(Sha256State& hash, Sha256Block block);

CircuitFamily sha256_family();

}  // namespace tinyot::circuit
