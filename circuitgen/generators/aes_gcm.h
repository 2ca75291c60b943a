// AES-GCM (NIST SP 800-38D) with nonces of 96 bits and tags of 128; the parties hold XOR shares of
// the key.
//
//               aes128_gcm, aes256_gcm         aes128_gcm_open, aes256_gcm_open
//   parameters  bytes: of the message, aad: bytes of associated data, sbox
//   inputs      key_a (A), key_b (B): key = key_a ^ key_b, the same in all lanes
//               nonce (96, A)                  nonce (96, A), tag (128, A)
//               message (8 . bytes, A)         ciphertext (8 . bytes, A)
//               aad (8 . aad, A)               aad (8 . aad, A)
//   outputs     ciphertext (8 . bytes, to B)   valid (1, to B)
//               tag (128, to B)                message (8 . bytes, to B): zeros if the tag is wrong
//
// A bundle of 0 bytes is omitted.
//
// ANDs of aes128_gcm for n = ceil(bytes / 16) and a = ceil(aad / 16) blocks: 32 for each S-box, of
// which the key has 40, H 160, the mask of the tag 160 and each block 133 (AesCounter); 698 for
// each of the n + a products of GHASH, and those of powers of H (Ghash). The block of lengths is
// public, so its product takes none. Opening: 127 more to compare tags and 8 for each byte; it
// holds the message until the tag is checked.
#pragma once

#include <vector>

#include "circuitgen/generators/family.h"

namespace tinyot::circuit {

// `key_bits` is 128 or 256. Encryption, then opening.
std::vector<CircuitFamily> aes_gcm_families(std::uint32_t key_bits);

}  // namespace tinyot::circuit
