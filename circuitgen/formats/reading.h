// How a circuit reads its inputs and writes its outputs (tinyot/circuit/gate.h), and which types of
// values fit that.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "circuitgen/formats/value_type.h"
#include "tinyot/circuit/gate.h"
#include "tinyot/lane_matrix.h"

namespace tinyot::circuit {

// The part of an input or an output that readings are about.
struct BundleReading {
  std::uint32_t bits;
  ValueFormat format;
  std::string type;
  Reading reading;

  template <class Bundle>
  explicit BundleReading(const Bundle& bundle)
      : bits(bundle.bits), format(bundle.format), type(bundle.type), reading(bundle.reading) {}

  // The width of a value: all bits, or those of an element of a list.
  std::uint32_t value_bits() const;
  // The format in which typed values are written. Texts are strings of bytes in hexadecimal, too.
  ValueFormat written_format() const {
    return reading == Reading::Text ? ValueFormat::Bytes : format;
  }
  // "unsigned", "4 x signed of 8 bits", "bytes": for people.
  std::string text() const;
  // Why values of the type do not fit, for a message that names the bundle; empty if they do.
  std::string why_unfit(std::string_view given) const;
};

// Sets the type, and the reading that follows from it: an empty type leaves the reading, and so do
// hexadecimal digits of a number. Fails: UsageError if the bundle cannot have the type nor be a
// list of such values.
template <class Bundle>
void set_type(Bundle& bundle, std::string_view type);
extern template void set_type(InputBundle&, std::string_view);
extern template void set_type(OutputBundle&, std::string_view);

// Fails: UsageError if the bundle cannot have its conditions: an order and a comparison are those
// of numbers or texts, and a range is for numbers of at most 64 bits.
void require_possible(const InputBundle& bundle);

// Fails: UsageError naming the input, the lane and the value by their numbers, if the values do not
// satisfy the conditions of the input; the message has no value, which may be secret.
void require_conditions(const InputBundle& bundle, const LaneMatrix& values);

// "in ascending order, without duplicates, from 0 to 9"; empty without conditions.
std::string conditions_text(const InputBundle& bundle);

}  // namespace tinyot::circuit
