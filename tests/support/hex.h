// Bytes as lower-case hexadecimal digits.
#pragma once

#include <string>

#include "tests/support/layers.h"

namespace tinyot::test {

template <class Bytes>
std::string hex_of(const Bytes& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const auto byte : bytes)
    text += {kDigits[static_cast<unsigned char>(byte) >> 4],
             kDigits[static_cast<unsigned char>(byte) & 15]};
  return text;
}

}  // namespace tinyot::test
