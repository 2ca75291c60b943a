// Types of values: how one is written, in a table or a list, and its bits in a bundle.
//
//   uN, iN       decimal numbers, unsigned or in two's complement; N up to 2^15; of at most 64 bits
//                with an exponent, as in 1e6
//   hexN         N bits as hex digits, the highest first; of a string of bytes, those of its bytes
//   fixN.F       decimal numbers with F of N bits behind the point, in two's complement; N up to 64
//                (numbers may have an exponent, as in 2.5e-3)
//   strN         text of at most N bytes, in the order of its bytes, filled up with zeros
//   (none)       as on the command line: numbers in decimal, 0x or 0b, or hex digits of bytes
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bit_vector.h"
#include "base/secret_text.h"
#include "circuitgen/formats/value_type.h"
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
  bool is_text() const { return kind_ == Kind::Text; }
  bool is_decimal() const { return kind_ != Kind::None && kind_ != Kind::Hex && !is_text(); }

 private:
  using Kind = ValueType::Kind;

  std::string name_;
  Kind kind_ = Kind::None;
  std::uint32_t bits_, fraction_ = 0;
  circuit::ValueFormat format_;
  circuit::NumberBase base_;
};

}  // namespace tinyot::circuit
