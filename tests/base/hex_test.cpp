#include "base/hex.h"

#include <gtest/gtest.h>

#include <array>

namespace tinyot {
namespace {

constexpr std::string_view kLower = "0123456789abcdef", kUpper = "0123456789ABCDEF";

TEST(Hex, EveryCharacterHasItsValueOrNone) {
  for (int code = 0; code < 256; ++code) {
    const char c = static_cast<char>(code);
    const std::size_t lower = kLower.find(c), upper = kUpper.find(c);
    const auto value = hex_value(c);
    ASSERT_EQ(value.has_value(), lower != std::string_view::npos || upper != std::string_view::npos)
        << code;
    if (value) {
      EXPECT_EQ(*value, lower != std::string_view::npos ? lower : upper) << code;
    }
  }
}

TEST(Hex, EveryByteRoundTrips) {
  for (std::uint32_t value = 0; value < 16; ++value) EXPECT_EQ(hex_digit(value), kLower[value]);
  std::array<std::byte, 256> bytes, parsed{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  const std::string text = hex_of(bytes);
  EXPECT_EQ(text.size(), 512u);
  EXPECT_EQ(text.substr(0, 8), "00010203");
  EXPECT_EQ(text.substr(506), "fdfeff");
  EXPECT_TRUE(parse_hex(text, parsed));
  EXPECT_EQ(parsed, bytes);
}

TEST(Hex, RejectsOtherLengthsAndOtherCharacters) {
  std::array<std::byte, 2> bytes;
  EXPECT_TRUE(parse_hex("aB0f", bytes));
  EXPECT_EQ(bytes, (std::array{std::byte{0xab}, std::byte{0x0f}}));
  for (const char* text : {"", "abc", "abcde", "abcdef", "ab0g", "g000", "0x12", " abc", "abc "})
    EXPECT_FALSE(parse_hex(text, bytes)) << text;
  EXPECT_EQ(hex_of({}), "");
  EXPECT_TRUE(parse_hex("", {}));
}

}  // namespace
}  // namespace tinyot
