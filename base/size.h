// Sizes, times and rates as people write them. Each is empty for another text.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tinyot {

// 4096, 2^12, 4k (4,000), 4Ki (4,096), 1.5M, 1e6; also G, Gi, T, Ti; below 2^63.
std::optional<std::uint64_t> size_from(std::string_view text);
// 150us, 20ms, 1.5s: in seconds.
std::optional<double> seconds_from(std::string_view text);
// 500kbit, 100mbit, 1gbit: in bits a second.
std::optional<double> bit_rate_from(std::string_view text);

}  // namespace tinyot
