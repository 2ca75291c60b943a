// Sizes as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tinyot {

// 4096, 2^12, 4k (4,000), 4Ki (4,096), 1.5M, 1e6; also G, Gi, T, Ti; below 2^63. Empty for another
// text.
std::optional<std::uint64_t> size_from(std::string_view text);

}  // namespace tinyot
