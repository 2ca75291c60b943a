// HMAC-SHA-256 (RFC 2104) and HKDF-SHA-256 (RFC 5869) as circuits; the parties hold XOR shares of
// the key.
//
//                hmac_sha256                       hkdf_sha256
//   parameters   key_bytes, bytes: of the message  key_bytes, salt, info, bytes: of the result;
//                                                  to: both, A, B or none
//   inputs       key_a (A), key_b (B): key = key_a ^ key_b, the same in all lanes
//                message (8 . bytes, A)            salt (8 . salt, A), info (8 . info, A)
//   output       mac (256, to both)                derived (8 . bytes, to `to`)
//
// A bundle of 0 bytes is omitted. The key of HKDF is the input keying material of section 2.2. With
// `none` the derived key stays shared, for a circuit that takes it as a shared input.
//
// Compressions of SHA-256 (sha2.h) for a key of at most 64 bytes: hmac_sha256 3 for the key and the
// outer hash and ceil((bytes + 9) / 64) for the message; those of the key once for all lanes. Each
// block of hkdf_sha256, 32 bytes of the result, takes at least 2.
#pragma once

#include <span>
#include <utility>

#include "circuitgen/generators/sha2.h"

namespace tinyot::circuit {

// A key of HMAC, of any length: the states of both hashes after their first block. Any number of
// messages share them.
class HmacKey {
 public:
  explicit HmacKey(const ByteWords& key);
  HmacKey(Sha256 inner, Sha256 outer) : inner_(std::move(inner)), outer_(std::move(outer)) {}
  // The inner hash, to be updated with the message, and the MAC.
  const Sha256& inner() const { return inner_; }
  const Sha256& outer() const { return outer_; }
  ByteWords finish(Sha256 inner) const;
  ByteWords mac(std::span<const ByteWord> message) const;

 private:
  Sha256 inner_, outer_;
};

// Sections 2.2 and 2.3 of RFC 5869; at most 255 . 32 bytes.
inline ByteWords hkdf_extract(const ByteWords& salt, const ByteWords& key) {
  return HmacKey(salt).mac(key);
}
ByteWords hkdf_expand(const HmacKey& key, const ByteWords& info, std::size_t bytes);

CircuitFamily hmac_sha256_family();
CircuitFamily hkdf_sha256_family();

}  // namespace tinyot::circuit
