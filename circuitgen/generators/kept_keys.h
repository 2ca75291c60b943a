// Keys of custody, of which each party has a share: check, load and derivation as circuits. What is
// loaded stays shared between the parties for the circuits of key_uses.h.
//
//   key_check   parameters  algorithm (aes128, aes256, hmac_sha256), class (aead, mac, kdf)
//               inputs      key_a (A), key_b (B): key = key_a ^ key_b
//               output      check (128, to both): the check value of the key
//   key_load    parameters  the same
//               inputs      key_a (A), key_b (B), check (128, public)
//               outputs     ok (1, to both): `check` is the check value of the key
//                           round_keys and zero_block, or inner and outer (to nobody)
//   key_derive  parameters  parent (aes128, aes256), algorithm and class of the child, info: bytes
//               inputs      round_keys and zero_block of the parent (shared), info (public)
//               outputs     key (to nobody), check (128, to both): that of the child
//
// The check value of a key of class aead is E_k(c0), of the other ones CMAC_k(m0), of HMAC the
// first 16 bytes of SHA-256("tinyot key check" || k). c0 is the first 12 bytes of SHA-256("tinyot
// key check") and a counter of 0, which GCM does not use; m0 its first 16 bytes. A check value must
// not help to forge in its own class: CMAC(c0 || X) follows from E_k(c0).
//
// Derivation: NIST SP 800-108, section 4.1, with CMAC, a counter and a length of 32 bits. `info` is
// label, a zero byte and context.
//
//                                  aes128    aes256    hmac_sha256
//   ANDs of key_check, aead        6,400     8,832
//        of key_check, mac, kdf   11,520    16,000     20,810
//        of key_load              11,647    16,127     64,714
#pragma once

#include <cstdint>

#include "circuitgen/generators/aes.h"
#include "circuitgen/generators/hmac.h"

namespace tinyot::circuit {

enum class KeyAlgorithm : std::uint8_t { Aes128, Aes256, HmacSha256 };

// The bytes of a key.
constexpr std::uint32_t key_bytes_of(KeyAlgorithm algorithm) {
  return algorithm == KeyAlgorithm::Aes128 ? 16 : 32;
}

// Parameters and their values.
CircuitParameter algorithm_parameter(std::string name = "algorithm");
KeyAlgorithm algorithm_of(const CircuitArguments& arguments, const std::string& name = "algorithm");

// What stays shared of a loaded key.
struct KeptCipher {
  AesCipher cipher;
  AesState zero_block;
};
// The bundles of a kept key as inputs, and the key that is read from the first two bundles.
std::vector<InputBundle> kept_key_inputs(KeyAlgorithm algorithm);
KeptCipher kept_cipher(Builder& builder, KeyAlgorithm algorithm);
HmacKey kept_hmac_key(Builder& builder);

CircuitFamily key_check_family();
CircuitFamily key_load_family();
CircuitFamily key_derive_family();

}  // namespace tinyot::circuit
