#include "base/hex.h"

namespace tinyot {

// A difference of small numbers is negative if and only if the bits above its lowest eight are set.

char hex_digit(std::uint32_t value) {
  const std::uint32_t is_letter = (9 - value) >> 8;
  return static_cast<char>('0' + value + (is_letter & ('a' - '0' - 10)));
}

std::optional<std::uint32_t> hex_value(char digit) {
  const std::uint32_t code = static_cast<unsigned char>(digit);
  const std::uint32_t number = code ^ '0', is_number = (number - 10) >> 8;
  // upper and lower case differ in one bit
  const std::uint32_t letter = (code & ~std::uint32_t{0x20}) - ('A' - 10),
                      is_letter = ((letter - 10) ^ (letter - 16)) >> 8;
  if ((is_number | is_letter) == 0) return std::nullopt;
  return ((number & is_number) | (letter & is_letter)) & 15;
}

std::string hex_of(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    const auto value = std::to_integer<std::uint32_t>(byte);
    text.push_back(hex_digit(value >> 4));
    text.push_back(hex_digit(value & 15));
  }
  return text;
}

bool parse_hex(std::string_view text, std::span<std::byte> bytes) {
  if (text.size() != 2 * bytes.size()) return false;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto high = hex_value(text[2 * i]), low = hex_value(text[2 * i + 1]);
    if (!high || !low) return false;
    bytes[i] = static_cast<std::byte>(*high << 4 | *low);
  }
  return true;
}

}  // namespace tinyot
