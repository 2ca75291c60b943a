// Values of bundles as text. `msb_first` reverses the bundle: wire j carries what wire bits - 1 - j
// carries otherwise.
//
//   Bytes     two hex digits per byte, exactly bits / 4 digits, optionally after "0x";
//             byte k is wires 8k..8k+7, lowest bit first
//   Integer   0x and hex digits, leading zeros optional when read, or a decimal number below 2^64;
//             bit j is wire j
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bit_vector.h"
#include "tinyot/circuit/gate.h"

namespace tinyot::circuit {

// Fails: UsageError. A value may be secret, so the message contains only lengths and positions
// (counted from 1), no part of the value.
BitVector parse_value(std::string_view text, std::uint32_t bits, ValueFormat format,
                      bool msb_first);

// Lowercase digits; Integer as 0x and ceil(bits / 4) digits, so that the length does not depend on
// the value.
std::string print_value(const BitVector& value, ValueFormat format, bool msb_first);

}  // namespace tinyot::circuit
