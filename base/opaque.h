// A value of which the compiler knows no more than that: what is computed from it is not put
// together with what it was made from, such as the secret distance of a shift.
#pragma once

#include <cstdint>

namespace tinyot {

inline std::uint64_t opaque(std::uint64_t word) {
  asm("" : "+r"(word));
  return word;
}

}  // namespace tinyot
