// Values of bundles as text. `msb_first` reverses the bundle: wire j carries what wire bits - 1 - j
// carries otherwise.
//
//   Bytes     two hex digits per byte, exactly bits / 4 digits, optionally after "0x";
//             byte k is wires 8k..8k+7, lowest bit first
//   Integer   0x and hex digits, 0b and bits, or a decimal number; leading zeros are optional when
//             read; bit j is wire j
//   MsbInteger  the same, but wire 0 has the highest bit
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bit_vector.h"
#include "circuitgen/formats/value_type.h"
#include "tinyot/circuit/gate.h"

namespace tinyot::circuit {

// Fails: UsageError. A value may be secret, so the message contains only lengths and positions
// (counted from 1), no part of the value.
BitVector parse_value(std::string_view text, std::uint32_t bits, ValueFormat format,
                      bool msb_first);

// Longer bundles are refused.
inline constexpr std::uint32_t kDecimalBitsMax = kIntegerBitsMax;

enum class NumberBase { Binary = 2, Decimal = 10, Hexadecimal = 16 };

// The text is the only copy, which the caller wipes if the value is secret. Lowercase digits.
// Integer: 0x and ceil(bits / 4) digits, or 0b and all bits, so that the length does not depend on
// the value; or a decimal number without leading zeros. The base does not concern Bytes. Fails:
// UsageError for a decimal number of more than kDecimalBitsMax bits.
std::string print_value(const BitVector& value, ValueFormat format, bool msb_first,
                        NumberBase base = NumberBase::Hexadecimal);

}  // namespace tinyot::circuit
