// How often a test repeats what it draws at random.
#pragma once

#include <cstdint>

#include "tests/support/layers.h"

namespace tinyot::test {

// As often as given; a quarter of it under a sanitizer, which is many times slower and looks for
// faults that hardly depend on what is drawn.
constexpr std::uint64_t repetitions(std::uint64_t in_full) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return (in_full + 3) / 4;
#else
  return in_full;
#endif
}

}  // namespace tinyot::test
