// Sizes as options take them.
#pragma once

#include <cstdint>
#include <string>

namespace tinyot::tools {

// 4096, 2^12, 4k (4,000), 4Ki (4,096), 1.5M, 1e6; also G, Gi, T, Ti; below 2^63. Fails: UsageError
// naming the option.
std::uint64_t parse_size(const std::string& option, const std::string& text);

}  // namespace tinyot::tools
