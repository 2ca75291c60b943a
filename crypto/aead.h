// Sealing of stored data: AES-256-GCM (OpenSSL), HKDF-SHA256 and HMAC-SHA256 (Crypto++).
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/secret.h"

namespace tinyot::crypto {

// A secret key of 256 bits, wiped on destruction.
struct SealKey {
  std::array<std::byte, 32> bytes{};

  SealKey() = default;
  SealKey(const SealKey&) = default;
  SealKey& operator=(const SealKey&) = default;
  ~SealKey() { wipe(bytes.data(), bytes.size()); }
};

using SealNonce = std::array<std::byte, 12>;
using SealTag = std::array<std::byte, 16>;

// Encrypts `plain` to `sealed`, which has the same length and may be the same memory, and
// authenticates it together with `context`. A pair of key and nonce is used only once.
SealTag seal(const SealKey& key, const SealNonce& nonce, std::span<const std::byte> context,
             std::span<const std::byte> plain, std::span<std::byte> sealed);

// The same for a plaintext that is in several places: they are sealed as if they were contiguous.
SealTag seal(const SealKey& key, const SealNonce& nonce, std::span<const std::byte> context,
             std::span<const std::span<const std::byte>> plain, std::span<std::byte> sealed);

// The inverse of seal. Returns false, with zeros in `plain`, unless key, nonce, context, tag and
// `sealed` are those of one call to seal.
bool open_sealed(const SealKey& key, const SealNonce& nonce, std::span<const std::byte> context,
                 std::span<const std::byte> sealed, const SealTag& tag, std::span<std::byte> plain);
bool open_sealed(const SealKey& key, const SealNonce& nonce, std::span<const std::byte> context,
                 std::span<const std::byte> sealed, const SealTag& tag,
                 std::span<const std::span<std::byte>> plain);

// HKDF-SHA256 (RFC 5869).
SealKey derive_key(std::span<const std::byte> secret, std::span<const std::byte> salt,
                   std::string_view purpose);

// The first 128 bits of HMAC-SHA256.
SealTag authenticate(const SealKey& key, std::span<const std::byte> message);

// Fixed length, no early exit.
bool equal_constant_time(const SealTag& a, const SealTag& b);

// Of the library that seals: "OpenSSL 3.0.17 1 Jul 2025".
std::string sealing_library();

}  // namespace tinyot::crypto
