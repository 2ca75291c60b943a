#include "circuitgen/generators/value_order.h"

#include <utility>

#include "circuitgen/formats/reading.h"

namespace tinyot::circuit {
namespace {

constexpr std::uint64_t kByteBits = 8;

}  // namespace

void ValueOrder::add_to(CircuitFamily& family, std::vector<std::string> compared) {
  family.compared = std::move(compared);
  for (CircuitParameter parameter :
       {CircuitParameter::number("signed", 0, 0, 1, "1: numbers in two's complement"),
        CircuitParameter::number("fraction", 0, 0, kNumberBitsMax - 1,
                                 "bits behind the point, of signed numbers"),
        CircuitParameter::number("text", 0, 0, 1, "1: texts, in the order of their bytes")}) {
    parameter.is_added = true;
    family.parameters.push_back(std::move(parameter));
  }
}

ValueOrder::ValueOrder(const CircuitArguments& arguments)
    : bits_(arguments.number("bits")), fraction_(arguments.number("fraction")),
      is_signed_(arguments.number("signed") != 0), is_text_(arguments.number("text") != 0) {
  const auto refuse = [&](const std::string& why) {
    throw UsageError("circuit " + arguments.spec() + ": " + why);
  };
  if (is_text_ && (is_signed_ || bits_ % kByteBits != 0))
    refuse("a text has no sign, and its bits are a multiple of 8");
  if (fraction_ > 0 && (!is_signed_ || fraction_ >= bits_ || bits_ > kNumberBitsMax))
    refuse("a fraction is of signed numbers of at most 64 bits, and has fewer bits than they");
}

std::uint64_t ValueOrder::place(std::uint64_t k, std::uint64_t i) const {
  return k * bits_ + (is_text_ ? bits_ - kByteBits * (1 + i / kByteBits) + i % kByteBits : i);
}

Bit ValueOrder::converted(const Bit& bit, std::uint64_t i) const {
  return is_signed_ && i + 1 == bits_ ? ~bit : bit;
}

template <class Bundle>
void ValueOrder::describe(Bundle& bundle, std::uint64_t count) const {
  bundle.reading = is_text_        ? Reading::Text
                   : fraction_ > 0 ? Reading::Fixed
                   : is_signed_    ? Reading::Signed
                                   : Reading::Unsigned;
  const std::string bits = std::to_string(bits_);
  if (is_text_)
    bundle.type = "str" + std::to_string(bits_ / kByteBits);
  else if (fraction_ > 0)
    bundle.type = "fix" + bits + "." + std::to_string(fraction_);
  else if (bits_ <= kIntegerBitsMax && (is_signed_ || count > 1))
    bundle.type = (is_signed_ ? "i" : "u") + bits;
}

InputBundle ValueOrder::input(std::string name, std::uint64_t count, Party owner) const {
  InputBundle input = bits_input(std::move(name), count * bits_, owner);
  describe(input, count);
  return input;
}

OutputBundle ValueOrder::output(std::string name, std::uint64_t count) const {
  OutputBundle output = bits_output(std::move(name), count * bits_);
  describe(output, count);
  return output;
}

}  // namespace tinyot::circuit
