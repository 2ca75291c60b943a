#include "circuitgen/formats/column.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"

namespace tinyot::circuit {
namespace {

__extension__ using Wide = unsigned __int128;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

BitVector bits_from(std::uint64_t number, std::uint32_t bits) {
  BitVector value(bits);
  for (std::uint32_t i = 0; i < bits; ++i) value.put(i, ((number >> i) & 1) != 0);
  return value;
}

std::uint64_t number_from(const BitVector& value) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < value.size(); ++i) number |= std::uint64_t{value[i]} << i;
  return number;
}

// Of a decimal number without its sign, before and behind the point, moved by its exponent.
struct Digits {
  SecretText whole, part;
};

// Fails: UsageError.
Digits digits_of(std::string_view text, std::uint32_t fraction) {
  constexpr int kExponentMost = 100;
  int exponent = 0;
  const std::size_t e = std::min(text.find_first_of("eE"), text.size());
  const bool has_exponent = e < text.size();
  if (has_exponent) {
    std::string_view digits = text.substr(e + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (error != std::errc() || end != digits.data() + digits.size() || exponent < -kExponentMost ||
        exponent > kExponentMost)
      throw UsageError("it is not a decimal number with an exponent of -100 to 100");
    text = text.substr(0, e);
  }
  const std::size_t point = std::min(text.find('.'), text.size());
  Digits number{secret_text(text.substr(0, point)),
                secret_text(point < text.size() ? text.substr(point + 1) : "")};
  const bool has_digits = number.whole.size() + number.part.size() > 0;
  if (!has_digits || !std::ranges::all_of(number.whole, is_digit) ||
      !std::ranges::all_of(number.part, is_digit))
    throw UsageError("it is not a decimal number");
  for (; exponent > 0; --exponent) {
    number.whole.push_back(number.part.empty() ? '0' : number.part.front());
    if (!number.part.empty()) number.part.erase(number.part.begin());
  }
  for (; exponent < 0; ++exponent) {
    number.part.insert(number.part.begin(), number.whole.empty() ? '0' : number.whole.back());
    if (!number.whole.empty()) number.whole.pop_back();
  }
  if (fraction > 0) return number;
  const auto is_zero = [](char digit) { return digit == '0'; };
  if (has_exponent ? !std::ranges::all_of(number.part, is_zero) : point < text.size())
    throw UsageError("a whole number has no point");
  number.part.clear();
  return number;
}

// A decimal number with a sign and a point: magnitude . 2^fraction, rounded to the nearest.
struct Decimal {
  ~Decimal() { wipe_object(scaled); }
  bool is_negative = false;
  Wide scaled = 0;
};

// Fails: UsageError.
Decimal decimal_from(std::string_view text, std::uint32_t fraction) {
  Decimal number;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    number.is_negative = text[0] == '-';
    text.remove_prefix(1);
  }
  const Digits digits_of_text = digits_of(text, fraction);
  const SecretText& whole = digits_of_text.whole;
  for (const char digit : whole) {
    number.scaled = 10 * number.scaled + static_cast<unsigned>(digit - '0');
    if (number.scaled >> kNumberBitsMax != 0) throw UsageError("the number is too large");
  }
  // Long division of the digits behind the point by their power of ten, bit by bit.
  SecretText digits = digits_of_text.part;
  for (std::uint32_t bit = 0; bit <= fraction; ++bit) {
    unsigned carry = 0;
    for (std::size_t i = digits.size(); i-- > 0;) {
      const unsigned doubled = 2 * static_cast<unsigned>(digits[i] - '0') + carry;
      digits[i] = static_cast<char>('0' + doubled % 10);
      carry = doubled / 10;
    }
    // The bit behind the last one rounds.
    number.scaled = bit < fraction ? 2 * number.scaled + carry : number.scaled + carry;
    if (number.scaled >> (2 * kNumberBitsMax - 2) != 0) throw UsageError("the number is too large");
  }
  return number;
}

SecretText decimal_text(std::uint64_t magnitude, bool is_negative, std::uint32_t fraction) {
  const Wide scaled = magnitude;
  SecretText text = secret_text(is_negative ? "-" : "");
  char digits[20];  // of 2^64 - 1
  const auto end = std::to_chars(std::begin(digits), std::end(digits),
                                 static_cast<std::uint64_t>(scaled >> fraction));
  text.insert(text.end(), digits, end.ptr);
  wipe(digits, sizeof digits);
  Wide rest = scaled & ((Wide{1} << fraction) - 1);
  if (rest != 0) text.push_back('.');
  while (rest != 0) {
    rest *= 10;
    text.push_back(static_cast<char>('0' + static_cast<unsigned>(rest >> fraction)));
    rest &= (Wide{1} << fraction) - 1;
  }
  return text;
}

// As circuit::print_value, without the first characters.
SecretText printed(const BitVector& value, circuit::ValueFormat format, circuit::NumberBase base,
                   std::size_t skipped = 0) {
  std::string text = circuit::print_value(value, format, false, base);
  SecretText kept = secret_text(std::string_view(text).substr(skipped));
  wipe(text.data(), text.size());
  return kept;
}

// Two's complement.
void negate(BitVector& value) {
  bool carry = true;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const bool bit = !value[i];
    value.put(i, bit != carry);
    carry = carry && bit;
  }
}

// An integer of more than kNumberBitsMax bits. Fails: UsageError.
BitVector wide_integer(std::string_view text, std::uint32_t bits, bool is_signed) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || !std::ranges::all_of(text, is_digit))
    throw UsageError("it is not a decimal number");
  BitVector value = circuit::parse_value(text, bits, circuit::ValueFormat::Integer, false);
  if (!is_negative) {
    if (is_signed && value[bits - 1]) throw UsageError("the number is too large");
    return value;
  }
  bool is_zero = true;
  for (std::size_t i = 0; i < bits; ++i) is_zero = is_zero && !value[i];
  if (is_zero) return value;
  if (!is_signed) throw UsageError("the number is negative");
  negate(value);
  if (!value[bits - 1]) throw UsageError("the number is too large");
  return value;
}

}  // namespace

ColumnType::ColumnType(std::string_view text, std::uint32_t bits, circuit::ValueFormat format,
                       circuit::NumberBase base)
    : name_(text), bits_(bits), format_(format), base_(base) {
  const ValueType type = ValueType::parse(text);
  kind_ = type.kind;
  fraction_ = type.fraction;
  if (!text.empty() && type.width != bits)
    throw UsageError("type " + name_ + " has " + std::to_string(type.width) + " bits, not the " +
                     std::to_string(bits) + " of the circuit");
}

BitVector ColumnType::parse(std::string_view field) const {
  switch (kind_) {
    case Kind::None:
      return circuit::parse_value(field, bits_, format_, false);
    case Kind::Hex: {
      if (format_ == ValueFormat::Bytes) return circuit::parse_value(field, bits_, format_, false);
      SecretText number = secret_text(field.starts_with("0x") ? "" : "0x");
      number.insert(number.end(), field.begin(), field.end());
      return circuit::parse_value(view_of(number), bits_, circuit::ValueFormat::Integer, false);
    }
    case Kind::Text: {
      if (field.size() > bits_ / 8)
        throw UsageError("the text has " + std::to_string(field.size()) + " bytes, more than " +
                         std::to_string(bits_ / 8));
      BitVector value(bits_);
      for (std::size_t i = 0; i < 8 * field.size(); ++i)
        value.put(i, (static_cast<unsigned char>(field[i / 8]) >> (i % 8) & 1) != 0);
      return value;
    }
    case Kind::Unsigned:
    case Kind::Signed:
    case Kind::Fixed:
      break;
  }
  if (bits_ > kNumberBitsMax) return wide_integer(field, bits_, kind_ == Kind::Signed);
  const Decimal number = decimal_from(field, fraction_);
  const Wide limit = Wide{1} << (kind_ == Kind::Unsigned ? bits_ : bits_ - 1);
  if (kind_ == Kind::Unsigned && number.is_negative && number.scaled != 0)
    throw UsageError("the number is negative");
  if (number.is_negative ? number.scaled > limit : number.scaled >= limit)
    throw UsageError("the number is too large for " + name_);
  const auto magnitude = static_cast<std::uint64_t>(number.scaled);
  return bits_from(number.is_negative ? std::uint64_t{0} - magnitude : magnitude, bits_);
}

SecretText ColumnType::print(const BitVector& value) const {
  switch (kind_) {
    case Kind::None:
      return printed(value, format_, base_);
    case Kind::Hex:
      if (format_ == ValueFormat::Bytes) return printed(value, format_, base_);
      return printed(value, circuit::ValueFormat::Integer, circuit::NumberBase::Hexadecimal, 2);
    case Kind::Text: {
      SecretText text;
      for (std::size_t i = 0; i < value.size(); i += 8) {
        unsigned byte = 0;
        for (std::size_t j = 0; j < 8; ++j) byte |= unsigned{value[i + j]} << j;
        text.push_back(static_cast<char>(byte));
      }
      text.resize(view_of(text).find_last_not_of('\0') + 1);
      return text;
    }
    case Kind::Unsigned:
    case Kind::Signed:
    case Kind::Fixed:
      break;
  }
  if (bits_ > kNumberBitsMax) {
    BitVector magnitude = value;
    const bool has_sign = kind_ == Kind::Signed && value[bits_ - 1];
    if (has_sign) negate(magnitude);
    SecretText text = secret_text(has_sign ? "-" : "");
    const SecretText digits =
        printed(magnitude, circuit::ValueFormat::Integer, circuit::NumberBase::Decimal);
    text.insert(text.end(), digits.begin(), digits.end());
    return text;
  }
  std::uint64_t number = number_from(value);
  const bool is_negative = kind_ != Kind::Unsigned && value[bits_ - 1];
  if (is_negative && bits_ < kNumberBitsMax) number |= ~std::uint64_t{0} << bits_;
  return decimal_text(is_negative ? std::uint64_t{0} - number : number, is_negative, fraction_);
}

}  // namespace tinyot::circuit
