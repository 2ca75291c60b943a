#include "base/size.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>

namespace tinyot {
namespace {

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || stop != text.data() + text.size())
    return std::nullopt;
  return value;
}

// The factor of a size's suffix.
std::optional<std::uint64_t> factor_of(std::string_view suffix) {
  if (suffix.empty()) return 1;
  constexpr std::string_view kLetters = "kMGT";
  const auto index = kLetters.find(suffix[0] == 'K' ? 'k' : suffix[0]);
  if (index == std::string_view::npos || suffix.size() > 2 ||
      (suffix.size() == 2 && suffix[1] != 'i'))
    return std::nullopt;
  std::uint64_t factor = 1;
  for (std::size_t i = 0; i <= index; ++i) factor *= suffix.size() == 2 ? 1024 : 1000;
  return factor;
}

// Digits with an optional fraction, and a factor or a power of ten: a whole number below 2^63.
std::optional<std::uint64_t> parse_scaled(std::string_view text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::size_t point = std::min(text.find('.'), end);
  std::string digits(text.substr(0, point));
  if (point < end) digits += text.substr(point + 1, end - point - 1);
  std::uint64_t places = point < end ? end - point - 1 : 0;
  if (point + 1 == end) return std::nullopt;
  std::optional<std::uint64_t> factor = 1;
  if (end < text.size() && text[end] == 'e') {
    const auto exponent = parse_number(text.substr(end + 1));
    if (!exponent || *exponent > 18) return std::nullopt;
    for (std::uint64_t i = 0; i < *exponent; ++i) *factor *= 10;
  } else {
    factor = factor_of(text.substr(end));
  }
  const auto number = parse_number(digits);
  std::uint64_t value = 0;
  if (!number || !factor || __builtin_mul_overflow(*number, *factor, &value)) return std::nullopt;
  for (; places > 0; --places) {
    if (value % 10 != 0) return std::nullopt;
    value /= 10;
  }
  if (value >= std::uint64_t{1} << 63) return std::nullopt;
  return value;
}

struct Unit {
  std::string_view name;
  double value;
};

// A number with one of these units.
template <std::size_t Count>
std::optional<double> quantity_from(std::string_view text, const Unit (&units)[Count]) {
  double number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number, std::chars_format::fixed);
  const auto unit = std::ranges::find(units, std::string_view(end, last), &Unit::name);
  if (error != std::errc() || unit == std::end(units)) return std::nullopt;
  return number * unit->value;
}

}  // namespace

std::optional<std::uint64_t> size_from(std::string_view text) {
  if (!text.starts_with("2^")) return parse_scaled(text);
  const auto exponent = parse_number(text.substr(2));
  if (!exponent || *exponent >= 63) return std::nullopt;
  return std::uint64_t{1} << *exponent;
}

std::optional<double> seconds_from(std::string_view text) {
  static constexpr Unit kUnits[] = {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
  return quantity_from(text, kUnits);
}

std::optional<double> bit_rate_from(std::string_view text) {
  static constexpr Unit kUnits[] = {{"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}};
  return quantity_from(text, kUnits);
}

}  // namespace tinyot
