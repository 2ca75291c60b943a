// The names of types of values, such as "u32". column.h says how values of each are written.
#pragma once

#include <cstdint>
#include <string_view>

#include "tinyot/circuit/gate.h"

namespace tinyot::circuit {

struct ValueType {
  enum class Kind { None, Unsigned, Signed, Hex, Fixed, Text };
  Kind kind = Kind::None;
  std::uint32_t width = 0, fraction = 0;

  // Kind::None for an empty text. Fails: UsageError for an unknown type.
  static ValueType parse(std::string_view text);

  bool is_number() const {
    return kind == Kind::Unsigned || kind == Kind::Signed || kind == Kind::Fixed;
  }
  // The reading of a circuit that computes in this type. Without a fraction, numbers in fixed point
  // are signed integers.
  Reading reading() const;

  friend bool operator==(const ValueType&, const ValueType&) = default;
};

// The widest numbers in fixed point and in ranges, and the widest integers: decimal digits take a
// time that grows with the square of their number.
inline constexpr std::uint32_t kNumberBitsMax = 64, kIntegerBitsMax = std::uint32_t{1} << 15;

// In place of a type: the bits are those of the bytes of a file.
inline constexpr std::string_view kRawType = "raw";

}  // namespace tinyot::circuit
