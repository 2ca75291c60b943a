// AES in counter mode (NIST SP 800-38A, section 6.5); the parties hold XOR shares of the key.
// Encryption and decryption are the same.
//
//   parameters  bytes, counter: of the first block, sbox
//   inputs      key_a (A), key_b (B): key = key_a ^ key_b, the same in all lanes
//               nonce (96, A): block i is encrypted under nonce || counter + i modulo 2^32, as in
//               RFC 3686 and GCM
//               message (8 . bytes, A)
//   output      ciphertext (8 . bytes, to B)
//
// The counter is public, so blocks share S-boxes of the first two rounds (AesCounter): 32 ANDs for
// each S-box, of which aes128_ctr has 40 for the key, 160 for the first block and 133 for each
// further one, up to 27 more where a carry leaves the last byte. aes256_ctr: 52, 224, 197.
#pragma once

#include "circuitgen/generators/family.h"

namespace tinyot::circuit {

// `key_bits` is 128 or 256.
CircuitFamily aes_ctr_family(std::uint32_t key_bits);

}  // namespace tinyot::circuit
