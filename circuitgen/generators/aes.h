// AES as a circuit (FIPS-197), one block per lane; the parties hold XOR shares of the key.
//
//   parameters  sbox: small (32 ANDs at AND-depth 6) or shallow (34 at 4)
//   inputs      key_a (A), key_b (B): key = key_a ^ key_b, the same in all lanes
//               message (128, A): one block per lane
//   output      ciphertext (128, to B)
//
// Byte k of the FIPS order is wires 8k..8k+7 of a bundle, lowest bit first. The key schedule reads
// only wires that are the same in all lanes.
//
//             S-boxes of the block  of the key   ANDs: small, shallow   AND-depth: small, shallow
//   aes128    160                   40           6,400    6,800         60    40
//   aes192    192                   32           7,168    7,616         72    48
//   aes256    224                   52           8,832    9,384         84    56
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "circuitgen/generators/aes_sbox.h"
#include "circuitgen/generators/family.h"

namespace tinyot::circuit {

// One block under a key of 16, 24 or 32 bytes. Byte k of the FIPS order at index k: row k % 4 of
// column k / 4. Fails: std::logic_error by ENSURE on a key of another length.
using AesState = std::array<ByteWord, 16>;
AesState aes_encrypt(std::vector<ByteWord> key, AesState state, AesSbox sbox);

// `key_bits` is 128, 192 or 256.
CircuitFamily aes_family(std::uint32_t key_bits);

}  // namespace tinyot::circuit
