// Number of repetitions of randomised tests.
#pragma once

#include <cstdint>

#include "tests/support/layers.h"

namespace tinyot::test {

// `in_full`, or a quarter of it under a sanitizer: these are many times slower, and the faults that
// they detect depend little on the random choices.
constexpr std::uint64_t repetitions(std::uint64_t in_full) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return (in_full + 3) / 4;
#else
  return in_full;
#endif
}

}  // namespace tinyot::test
