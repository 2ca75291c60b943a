// Types of values: how one is written, in a table or a list, and its bits in a bundle.
//
//   uN, iN       decimal numbers, unsigned or in two's complement; N up to 64
//   hexN         N bits as hex digits, the highest first
//   fixN.F       decimal numbers with F of N bits behind the point, in two's complement; N up to 64
//                (numbers may have an exponent, as in 2.5e-3)
//   strN         text of at most N bytes, in the order of its bytes, filled up with zeros
//   (none)       as on the command line: numbers in decimal, 0x or 0b, or hex digits of bytes
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bit_vector.h"
#include "base/secret_text.h"
#include "circuitgen/formats/values.h"

namespace tinyot::circuit {

// The bits of a value of this type; absent without a type. Fails: UsageError for an unknown type.
std::optional<std::uint32_t> width_of_type(std::string_view text);

// That a bundle may have the type, or be a list of such values. Fails: UsageError.
void require_bundle_type(std::string_view type, std::uint32_t bits, ValueFormat format);

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
  bool is_decimal() const { return kind_ != Kind::Value && kind_ != Kind::Hex && !is_text(); }

 private:
  enum class Kind { Value, Unsigned, Signed, Hex, Fixed, Text };
  struct Parsed {
    Kind kind = Kind::Value;
    std::uint32_t width = 0, fraction = 0;
  };
  static Parsed parse_type(std::string_view text);
  friend std::optional<std::uint32_t> width_of_type(std::string_view text);

  std::string name_;
  Kind kind_ = Kind::Value;
  std::uint32_t bits_, fraction_ = 0;
  circuit::ValueFormat format_;
  circuit::NumberBase base_;
};

}  // namespace tinyot::circuit
