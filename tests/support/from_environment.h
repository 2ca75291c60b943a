// The size of a longer run of a test, from a TINYOT_* variable (doc/testing.md).
#pragma once

#include <cstdint>
#include <cstdlib>

#include "tests/support/layers.h"

namespace tinyot::test {

inline std::uint64_t from_environment(const char* name, std::uint64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

}  // namespace tinyot::test
