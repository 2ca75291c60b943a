// AES-128 by Crypto++, the reference for oblivious AES. For public data only.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace tinyot::crypto {

using AesBytes = std::array<std::uint8_t, 16>;

std::vector<AesBytes> aes128_by_library_vartime(const AesBytes& key,
                                                const std::vector<AesBytes>& blocks);

}  // namespace tinyot::crypto
