// What a kept key of custody is used for (kept_keys.h), as circuits. The requester, a party, gives
// the message and receives the result; the other party learns the lengths.
//
//   key_seal    parameters  algorithm (aes128, aes256), by: the requester (A, B), bytes, aad,
//                           shown: whether both parties give the associated data (no, yes)
//               inputs      round_keys, zero_block (shared), nonce (96, public), message, aad
//               outputs     ciphertext, tag
//   key_open    inputs      round_keys, zero_block, nonce (96, of the requester), tag, ciphertext,
//                           aad
//               outputs     valid (1), message: zeros if the tag is wrong
//   key_sign    parameters  algorithm (aes128, aes256: CMAC; hmac_sha256), by, bytes
//               inputs      the kept key, message
//               output      tag (128; HMAC 256)
//   key_verify  inputs      the kept key, tag, message
//               output      valid (1)
//
// A bundle of 0 bytes is omitted.
#pragma once

#include <vector>

#include "circuitgen/generators/family.h"

namespace tinyot::circuit {

// The longest payload of a use.
inline constexpr std::uint64_t kKeyUseBytesMax = 1 << 16;

std::vector<CircuitFamily> key_use_families();

}  // namespace tinyot::circuit
