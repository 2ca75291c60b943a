// Hexadecimal digits. Inputs of a run and keys pass through here: neither branches nor table
// look-ups depend on a digit, except on whether it is valid. The owners of the texts wipe them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tinyot {

// The digit of a value below 16, in lower case.
char hex_digit(std::uint32_t value);
// The value of a digit of either case. Empty if `digit` is not a hexadecimal digit.
std::optional<std::uint32_t> hex_value(char digit);

// Two digits for each byte, the high half first.
std::string hex_of(std::span<const std::byte> bytes);
// Fills `bytes`. Returns whether the text has two digits for each byte and nothing else; if not,
// the bytes are unspecified.
bool parse_hex(std::string_view text, std::span<std::byte> bytes);

}  // namespace tinyot
