// CMAC (NIST SP 800-38B, RFC 4493) with AES as a circuit, on a key schedule; tags of 128 bits.
//
// One block of AES for each 16 bytes of the message, one after the other: the depth grows with the
// length.
#pragma once

#include <span>

#include "circuitgen/generators/aes.h"

namespace tinyot::circuit {

// `zero_block`: the encryption of the block of zeros, L in section 6.1.
AesState cmac(const AesCipher& cipher, const AesState& zero_block,
              std::span<const ByteWord> message);

}  // namespace tinyot::circuit
