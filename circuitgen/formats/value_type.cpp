#include "circuitgen/formats/value_type.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "base/error.h"

namespace tinyot::circuit {
namespace {

std::optional<std::uint32_t> number_of(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

ValueType ValueType::parse(std::string_view text) {
  if (text.empty()) return {};
  ValueType type;
  std::optional<std::uint32_t> width;
  const auto after = [&](std::string_view begin) {
    return text.starts_with(begin) ? std::optional(text.substr(begin.size())) : std::nullopt;
  };
  if (const auto digits_u = after("u")) {
    type.kind = Kind::Unsigned;
    width = number_of(*digits_u);
  } else if (const auto digits_i = after("i")) {
    type.kind = Kind::Signed;
    width = number_of(*digits_i);
  } else if (const auto digits_h = after("hex")) {
    type.kind = Kind::Hex;
    width = number_of(*digits_h);
  } else if (const auto digits_s = after("str")) {
    type.kind = Kind::Text;
    width = number_of(*digits_s);
    if (width) width = *width <= UINT32_MAX / 8 ? 8 * *width : 0;
  } else if (const auto digits_f = after("fix")) {
    type.kind = Kind::Fixed;
    const std::size_t point = std::min(digits_f->find('.'), digits_f->size());
    const auto fraction =
        point < digits_f->size() ? number_of(digits_f->substr(point + 1)) : std::nullopt;
    if (fraction) width = number_of(digits_f->substr(0, point));
    type.fraction = fraction.value_or(0);
  }
  type.width = width.value_or(0);
  const std::uint32_t most = type.kind == Kind::Fixed ? kNumberBitsMax : kIntegerBitsMax;
  if (type.width == 0 || (type.is_number() && type.width > most) || type.fraction >= type.width)
    throw UsageError("there is no type '" + std::string(text) +
                     "': it is u32, i64, hex128, fix32.16 or str20, with other numbers");
  return type;
}

Reading ValueType::reading() const {
  switch (kind) {
    case Kind::Unsigned:
      return Reading::Unsigned;
    case Kind::Signed:
      return Reading::Signed;
    case Kind::Fixed:
      return fraction > 0 ? Reading::Fixed : Reading::Signed;
    case Kind::Text:
      return Reading::Text;
    case Kind::None:
    case Kind::Hex:
      break;
  }
  return Reading::Bits;
}

}  // namespace tinyot::circuit
