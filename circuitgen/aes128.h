// AES-128 as a circuit (FIPS-197), one block a lane; the key is shared between the parties by XOR.
//
//   inputs    key_a (128, A), key_b (128, B): key = key_a ^ key_b, the same in all lanes; message (128, A): a block a lane
//   output    ciphertext (128, to B)
//
// Byte k of the FIPS order is wires 8k..8k+7 of a bundle, lowest bit first. 6,400 ANDs (160 S-boxes for the block, 40 for the
// key schedule, 32 ANDs each) at AND-depth 60.
#pragma once

#include <memory>

#include "circuitgen/word.h"

namespace tinyot {

using ByteWord = Word<8>;

// SubBytes of one byte: 32 ANDs at AND-depth 6.
// Source: Boyar, Peralta, "A new combinational logic minimization technique with applications to cryptology", SEA 2010: a
// linear layer, the nonlinear middle (an inversion in a tower field) and a linear layer; the last one in its later form of
// 113 gates in all, as Boyar, Matthews, Peralta, J. Cryptology 26 (2013) write it.
ByteWord aes_sbox(const ByteWord& x);

std::unique_ptr<Circuit> make_aes128();

}  // namespace tinyot
