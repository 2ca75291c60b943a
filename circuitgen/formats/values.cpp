#include "circuitgen/formats/values.h"

#include <algorithm>

#include "base/error.h"
#include "base/hex.h"

namespace tinyot::circuit {
namespace {

bool has_hex_prefix(std::string_view text) {
  return text.starts_with("0x") || text.starts_with("0X");
}
bool has_binary_prefix(std::string_view text) {
  return text.starts_with("0b") || text.starts_with("0B");
}

// The digit at `index`; positions in the message count from 1 and refer to the given text.
std::uint32_t digit_at(std::string_view text, std::size_t index, std::uint32_t base) {
  const auto digit = hex_value(text[index]);
  if (digit && *digit < base) return *digit;
  throw UsageError("the character at position " + std::to_string(index + 1) +
                   " of the value is not a " +
                   (base == 16  ? "hexadecimal digit"
                    : base == 2 ? "bit"
                                : "decimal digit (write 0x before hexadecimal numbers)"));
}

[[noreturn]] void refuse_too_large(std::uint32_t bits) {
  throw UsageError("the value does not fit in the " + std::to_string(bits) + " bits of its bundle");
}

// Sets the bits of `digit` from wire `first` on.
void put_digit(BitVector& value, std::size_t first, std::uint32_t digit) {
  for (std::size_t i = 0; i < 4; ++i) {
    if (first + i < value.size()) {
      value.put(first + i, ((digit >> i) & 1) != 0);
    } else if ((digit >> i) != 0) {
      refuse_too_large(static_cast<std::uint32_t>(value.size()));
    }
  }
}

std::uint32_t digit_from(const BitVector& value, std::size_t first) {
  std::uint32_t digit = 0;
  for (std::size_t i = 0; i < 4 && first + i < value.size(); ++i)
    digit |= std::uint32_t{value[first + i]} << i;
  return digit;
}

// The first of the four wires of the digit at `index` of the Bytes form: the high half of a byte is
// written first.
std::size_t first_wire_of(std::size_t index) { return 8 * (index / 2) + (index % 2 == 0 ? 4 : 0); }

BitVector parse_bytes(std::string_view text, std::uint32_t bits) {
  const std::size_t prefix = has_hex_prefix(text) ? 2 : 0;
  const std::size_t digits = text.size() - prefix;
  if (digits != bits / 4) {
    throw UsageError("the value has " + std::to_string(digits) + " characters, but its bundle of " +
                     std::to_string(bits) + " bits takes exactly " + std::to_string(bits / 4) +
                     " hexadecimal digits");
  }
  BitVector value(bits);
  for (std::size_t i = 0; i < digits; ++i)
    put_digit(value, first_wire_of(i), digit_at(text, prefix + i, 16));
  return value;
}

BitVector parse_hex_number(std::string_view text, std::uint32_t bits) {
  if (text.size() == 2) throw UsageError("the value has no digits after 0x");
  BitVector value(bits);
  for (std::size_t i = 2; i < text.size(); ++i)
    put_digit(value, 4 * (text.size() - 1 - i), digit_at(text, i, 16));
  return value;
}

BitVector parse_binary_number(std::string_view text, std::uint32_t bits) {
  if (text.size() == 2) throw UsageError("the value has no digits after 0b");
  BitVector value(bits);
  for (std::size_t i = 2; i < text.size(); ++i) {
    const std::size_t wire = text.size() - 1 - i;
    const bool bit = digit_at(text, i, 2) != 0;
    if (wire < bits)
      value.put(wire, bit);
    else if (bit)
      refuse_too_large(bits);
  }
  return value;
}

void require_short_enough(std::size_t bits) {
  if (bits > kDecimalBitsMax)
    throw UsageError("a decimal number is for at most " + std::to_string(kDecimalBitsMax) +
                     " bits, and this bundle has " + std::to_string(bits) +
                     "; write 0x and hexadecimal digits");
}

// A number in limbs of 32 bits, lowest first.
using Limbs = SecretVector<std::uint32_t>;

BitVector parse_decimal_number(std::string_view text, std::uint32_t bits) {
  require_short_enough(bits);
  Limbs limbs(bits / 32 + 1, 0);  // a bit more than the bundle has
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::uint64_t carry = digit_at(text, i, 10);
    for (std::uint32_t& limb : limbs) {
      carry += std::uint64_t{limb} * 10;
      limb = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0 || (limbs.back() >> (bits % 32)) != 0) refuse_too_large(bits);
  }
  BitVector value(bits);
  for (std::size_t i = 0; i < bits; ++i) value.put(i, (limbs[i / 32] >> (i % 32) & 1) != 0);
  return value;
}

std::string print_decimal_number(const BitVector& value) {
  require_short_enough(value.size());
  Limbs limbs(value.size() / 32 + 1, 0);
  for (std::size_t i = 0; i < value.size(); ++i)
    limbs[i / 32] |= std::uint32_t{value[i]} << (i % 32);
  SecretVector<char> digits;
  for (std::size_t length = limbs.size(); length > 0;) {
    std::uint64_t remainder = 0;
    for (std::size_t i = length; i-- > 0;) {
      remainder = remainder << 32 | limbs[i];
      limbs[i] = static_cast<std::uint32_t>(remainder / 10);
      remainder %= 10;
    }
    digits.push_back(static_cast<char>('0' + remainder));
    while (length > 0 && limbs[length - 1] == 0) --length;
  }
  return {digits.rbegin(), digits.rend()};
}

std::string print_binary_number(const BitVector& value) {
  std::string text = "0b";
  text.reserve(text.size() + value.size());
  for (std::size_t i = value.size(); i-- > 0;) text.push_back(value[i] ? '1' : '0');
  return text;
}

void mirror(BitVector& value) {
  for (std::size_t i = 0, j = value.size(); i + 1 < j; ++i) {
    --j;
    const bool low = value[i];
    value.put(i, value[j]);
    value.put(j, low);
  }
}

}  // namespace

BitVector parse_value(std::string_view text, std::uint32_t bits, ValueFormat format,
                      bool msb_first) {
  ENSURE(format != ValueFormat::Bytes || bits % 8 == 0);
  if (text.empty()) throw UsageError("the value is empty");
  BitVector value = format == ValueFormat::Bytes ? parse_bytes(text, bits)
                    : has_hex_prefix(text)       ? parse_hex_number(text, bits)
                    : has_binary_prefix(text)    ? parse_binary_number(text, bits)
                                                 : parse_decimal_number(text, bits);
  if (msb_first != (format == ValueFormat::MsbInteger)) mirror(value);
  return value;
}

std::string print_value(const BitVector& value, ValueFormat format, bool msb_first,
                        NumberBase base) {
  ENSURE(format != ValueFormat::Bytes || value.size() % 8 == 0);
  BitVector ordered = value;
  if (msb_first != (format == ValueFormat::MsbInteger)) mirror(ordered);
  if (format != ValueFormat::Bytes && base == NumberBase::Decimal)
    return print_decimal_number(ordered);
  if (format != ValueFormat::Bytes && base == NumberBase::Binary)
    return print_binary_number(ordered);
  const std::size_t digits = (value.size() + 3) / 4;
  std::string text = format == ValueFormat::Bytes ? "" : "0x";
  text.reserve(text.size() + digits);
  for (std::size_t i = 0; i < digits; ++i) {
    const std::size_t first =
        format == ValueFormat::Bytes ? first_wire_of(i) : 4 * (digits - 1 - i);
    text.push_back(hex_digit(digit_from(ordered, first)));
  }
  return text;
}

}  // namespace tinyot::circuit
