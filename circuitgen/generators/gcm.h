// GCM (NIST SP 800-38D, section 7) with AES, nonces of 96 bits and tags of 128, on a key schedule.
#pragma once

#include <cstdint>
#include <optional>

#include "circuitgen/generators/aes.h"
#include "circuitgen/generators/ghash.h"

namespace tinyot::circuit {

struct GcmLengths {
  std::uint64_t bytes = 0;  // of the message
  std::uint64_t aad = 0;    // bytes of associated data
};

// Section 7.1, steps 1 to 6, in a stream: absorb the associated data, then one block of the message
// after the other. The counter of the tag is 1, that of the first block 2.
class AesGcm {
 public:
  // `h`: the encryption of the block of zeros, computed if absent.
  AesGcm(AesCipher cipher, std::optional<AesState> h, ByteWords nonce, const GcmLengths& lengths);
  AesGcm(const AesGcm&) = delete;
  AesGcm& operator=(const AesGcm&) = delete;

  AesState next_key_stream() { return blocks_.block(++counter_); }
  // The string is padded to whole blocks at its last byte.
  void absorb(const ByteWord& byte, bool is_last);
  // Once, last.
  AesState tag();

 private:
  GcmLengths lengths_;
  AesCipher cipher_;
  AesCounter blocks_;  // refers to cipher_
  AesState mask_;
  Ghash hash_;
  std::uint32_t counter_ = 1;
  AesState block_;
  std::size_t filled_ = 0;
};

// The input bundles of message or ciphertext, and of the associated data. A bundle of 0 bytes is
// absent.
struct GcmBundles {
  std::uint32_t text;
  std::uint32_t aad;
};
// Output bundles: the ciphertext, if it has bytes, and the tag.
void seal_gcm(Builder& builder, AesGcm& gcm, const GcmLengths& lengths, GcmBundles inputs);
// Output bundles: 1 if the tag in input bundle `tag` is right; the message, if it has bytes, or
// zeros if the tag is wrong. It is held until the tag is checked: 8 wires for each byte.
void open_gcm(Builder& builder, AesGcm& gcm, const GcmLengths& lengths, GcmBundles inputs,
              std::uint32_t tag);

}  // namespace tinyot::circuit
