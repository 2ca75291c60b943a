// Sealed boxes (libsodium): anyone who has the public key can seal, and only the owner of the
// private key, which may be kept offline, can open.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/secret.h"

namespace tinyot::crypto {

using BoxPublicKey = std::array<std::byte, 32>;

struct BoxPrivateKey {
  std::array<std::byte, 32> bytes{};

  BoxPrivateKey() = default;
  BoxPrivateKey(const BoxPrivateKey&) = default;
  BoxPrivateKey& operator=(const BoxPrivateKey&) = default;
  ~BoxPrivateKey() { wipe(bytes.data(), bytes.size()); }
};

BoxPrivateKey random_box_key();
BoxPublicKey public_key_of(const BoxPrivateKey& key);

// 48 bytes longer than `plain`.
std::vector<std::byte> seal_box(const BoxPublicKey& key, std::span<const std::byte> plain);
// Empty unless the box has been sealed for this key and is unchanged.
std::optional<SecretVector<std::byte>> open_box(const BoxPrivateKey& key,
                                                std::span<const std::byte> box);

}  // namespace tinyot::crypto
