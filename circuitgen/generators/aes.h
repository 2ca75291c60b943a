// AES as a circuit (FIPS-197), one block per lane, and its blocks of counter mode; the parties hold
// XOR shares of the key.
//
//   parameters  sbox: small (32 ANDs at AND-depth 6), shallow (34 at 4), or gf16 (as shallow, with
//               a group: 37 masked triples, 3 rounds of a masked run)
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
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "circuitgen/generators/aes_sbox.h"
#include "circuitgen/generators/bytes.h"
#include "circuitgen/generators/family.h"

namespace tinyot::circuit {

// Byte k of the FIPS order at index k: row k % 4 of column k / 4.
using AesState = std::array<ByteWord, 16>;

// One block under a key of 16, 24 or 32 bytes; the key schedule advances with the rounds. Fails:
// std::logic_error by ENSURE on a key of another length.
AesState aes_encrypt(ByteWords key, AesState state, AesSbox sbox);

// The same for many blocks under one key, whose schedule is computed once.
class AesCipher {
 public:
  // Fails: as aes_encrypt.
  AesCipher(ByteWords key, AesSbox sbox);
  // Under round keys that are known already: 11, 13 or 15.
  AesCipher(std::vector<AesState> round_keys, AesSbox sbox)
      : round_keys_(std::move(round_keys)), sbox_(sbox) {}
  AesState encrypt(AesState state) const;
  const std::vector<AesState>& round_keys() const { return round_keys_; }

 private:
  friend class AesCounter;
  std::vector<AesState> round_keys_;
  AesSbox sbox_;
};

// The encryptions of `nonce` (12 bytes) followed by a public counter of 4 bytes, highest first.
// Consecutive blocks have most bytes in common. If only the last byte of the counter changes, 15
// S-boxes of the first round and 12 of the second are those of the block before, so a block takes
// 133 S-boxes instead of 160 of AES-128. Source: Bernstein, Schwabe, "New AES software speed
// records", INDOCRYPT 2008, section 3, "counter-mode caching". `cipher` outlives the object.
class AesCounter {
 public:
  AesCounter(const AesCipher& cipher, ByteWords nonce);
  AesState block(std::uint32_t counter);

 private:
  const AesCipher& cipher_;
  ByteWords nonce_;
  std::optional<std::uint32_t> last_;
  AesState first_, second_;  // after SubBytes of rounds 1 and 2 of block last_
};

// The parameter `sbox` and its value.
CircuitParameter sbox_parameter();
AesSbox sbox_of(const CircuitArguments& arguments);

// `key_bits` is 128, 192 or 256.
CircuitFamily aes_family(std::uint32_t key_bits);

}  // namespace tinyot::circuit
