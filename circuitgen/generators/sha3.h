// SHA-3 (FIPS 202) of a message of public length as a circuit, padding included.
//
//   parameters  digest: bits, 256, 224, 384 or 512; bytes: of the message
//   inputs      message (8 . bytes, A); omitted if it is empty
//   output      digest (to both)
//
// One permutation for each 200 - digest / 4 bytes: 38,400 ANDs at AND-depth 24. The last round of
// the last one computes the digest only, so a message of one block takes 37,056 for 256 bits.
#pragma once

#include <array>

#include "circuitgen/generators/family.h"
#include "tinyot/circuit/operators.h"

namespace tinyot::circuit {

// Keccak-f[1600]: lane (x, y) at index 5 y + x. The first `lanes` lanes of the result; the others
// are 0.
using KeccakState = std::array<Word<64>, 25>;
KeccakState keccak_f(KeccakState state, std::size_t lanes = 25);

CircuitFamily sha3_family();

}  // namespace tinyot::circuit
