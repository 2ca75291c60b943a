// SubBytes of AES as a circuit, in three forms.
//
// Source: Boyar, Peralta, "A new combinational logic minimization technique with applications to
// cryptology", SEA 2010: a linear layer, the nonlinear middle (an inversion in a tower field) and a
// linear layer; the last one in its later form of 113 gates in total, as in Boyar, Matthews,
// Peralta, J. Cryptology 26 (2013). The inversion in GF(2^4) at AND-depth 2 is that of Boyar,
// Peralta, "A small depth-16 circuit for the AES S-box", IFIP SEC 2012.
#pragma once

#include "circuitgen/generators/bytes.h"

namespace tinyot::circuit {

enum class AesSbox {
  Small,    // 32 ANDs at AND-depth 6
  Shallow,  // 34 ANDs at AND-depth 4
  Gf16,     // Shallow, with the inversion in GF(2^4) as a group: 37 masked triples, 3 rounds
};

ByteWord aes_sbox(const ByteWord& x, AesSbox form);

}  // namespace tinyot::circuit
