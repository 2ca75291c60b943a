// Signatures by a party's TLS key over what it has said: evidence that outlives the connection.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "net/tls/identity.h"

namespace tinyot::net {

struct Signature {
  std::vector<std::byte> public_key;  // SubjectPublicKeyInfo, DER: its hash is the fingerprint
  std::vector<std::byte> bytes;
};

// `domain` separates what is signed from all else that the key signs; at most 255 bytes. Ed25519,
// or ECDSA with SHA-256 for P-256. What TLS signs begins with 64 spaces, and this with the length
// of the domain.
Signature sign(const Identity& identity, std::string_view domain,
               std::span<const std::byte> message);

// Whether the owner of the key with this fingerprint has signed the message in this domain.
// Timing: variable; everything is public.
bool is_signed_by(const Fingerprint& signer, const Signature& signature, std::string_view domain,
                  std::span<const std::byte> message);

}  // namespace tinyot::net
