// Types of the columns of a table: how a field is written, and its bits in a bundle.
//
//   uN, iN       decimal numbers, unsigned or in two's complement; N up to 64
//   hexN         N bits as hex digits, the highest first
//   fixN.F       decimal numbers with F of N bits behind the point, in two's complement; N up to 64
//   strN         text of at most N bytes, in the order of its bytes, filled up with zeros
//   (none)       as on the command line: numbers in decimal, 0x or 0b, or hex digits of bytes
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bit_vector.h"
#include "base/secret_text.h"
#include "circuitgen/formats/values.h"

namespace tinyot::circuit {

class ColumnType {
 public:
  // For a bundle. `text` is one of the types above, or empty. Fails: UsageError for an unknown type
  // or another width.
  ColumnType(std::string_view text, std::uint32_t bits, circuit::ValueFormat format,
             circuit::NumberBase base);

  // Fails: UsageError with what is wrong, never with the field, which may be secret.
  BitVector parse(std::string_view field) const;
  SecretText print(const BitVector& value) const;

  const std::string& name() const { return name_; }

 private:
  enum class Kind { Value, Unsigned, Signed, Hex, Fixed, Text };

  std::string name_;
  Kind kind_ = Kind::Value;
  std::uint32_t bits_, fraction_ = 0;
  circuit::ValueFormat format_;
  circuit::NumberBase base_;
};

}  // namespace tinyot::circuit
