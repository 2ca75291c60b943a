#include "circuitgen/formats/reading.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/error.h"

namespace tinyot::circuit {
namespace {

constexpr std::uint32_t kByteBits = 8;

// The place of bit i of a value, counted from the least significant one.
std::size_t place(std::size_t i, std::uint32_t bits, Reading reading) {
  return reading == Reading::Text ? bits - kByteBits * (1 + i / kByteBits) + i % kByteBits : i;
}

bool is_signed(Reading reading) { return reading == Reading::Signed || reading == Reading::Fixed; }

// The values of a lane of an input, as the circuit reads them.
class ListedValues {
 public:
  ListedValues(const InputBundle& bundle, ConstLane lane)
      : lane_(lane), bits_(BundleReading(bundle).value_bits()), reading_(bundle.reading) {}

  std::size_t count() const { return lane_.size() / bits_; }

  bool is_less(std::size_t x, std::size_t y) const {
    for (std::size_t i = bits_; i-- > 0;) {
      const std::size_t at = place(i, bits_, reading_);
      const bool of_x = lane_[x * bits_ + at], of_y = lane_[y * bits_ + at];
      if (of_x != of_y) return of_y != (is_signed(reading_) && i + 1 == bits_);
    }
    return false;
  }

  // 64 bits, extended by the sign.
  std::uint64_t number(std::size_t k) const {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < kNumberBitsMax; ++i) {
      const bool is_beyond = i >= bits_;
      const bool bit =
          is_beyond ? is_signed(reading_) && lane_[k * bits_ + bits_ - 1] : lane_[k * bits_ + i];
      number |= std::uint64_t{bit} << i;
    }
    return number;
  }

 private:
  ConstLane lane_;
  std::uint32_t bits_;
  Reading reading_;
};

bool is_above(std::uint64_t x, std::uint64_t y, Reading reading) {
  return is_signed(reading) ? static_cast<std::int64_t>(x) > static_cast<std::int64_t>(y) : x > y;
}

std::string range_text(const InputConditions::Range& range, const InputBundle& bundle) {
  const auto text = [&](std::uint64_t number) {
    return is_signed(bundle.reading) ? std::to_string(static_cast<std::int64_t>(number))
                                     : std::to_string(number);
  };
  const bool is_fixed = bundle.reading == Reading::Fixed;
  return text(range.lowest) + " to " + text(range.highest) +
         (is_fixed ? " in units of 2^-" + std::to_string(ValueType::parse(bundle.type).fraction)
                   : "");
}

class ConditionCheck {
 public:
  ConditionCheck(const InputBundle& bundle, const LaneMatrix& values, std::size_t lane)
      : bundle_(bundle), values_(bundle, values[lane]),
        lane_(values.lanes() > 1 ? " of lane " + std::to_string(lane + 1) : "") {}

  void ascending() const {
    for (std::size_t k = 1; k < values_.count(); ++k)
      if (values_.is_less(k, k - 1))
        fail("value " + std::to_string(k + 1) + lane_ +
             " is less than the one before: the list has "
             "to be in ascending order");
  }

  void distinct() const {
    std::vector<std::size_t> order(values_.count());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, [&](std::size_t x, std::size_t y) { return values_.is_less(x, y); });
    for (std::size_t i = 1; i < order.size(); ++i)
      if (!values_.is_less(order[i - 1], order[i]))
        fail("values " + std::to_string(std::min(order[i - 1], order[i]) + 1) + " and " +
             std::to_string(std::max(order[i - 1], order[i]) + 1) + lane_ +
             " are equal: the list must have no duplicates");
  }

  void within(const InputConditions::Range& range) const {
    for (std::size_t k = 0; k < values_.count(); ++k) {
      const std::uint64_t number = values_.number(k);
      if (is_above(range.lowest, number, bundle_.reading) ||
          is_above(number, range.highest, bundle_.reading))
        fail("value " + std::to_string(k + 1) + lane_ +
             " is not within the range of the circuit, " + range_text(range, bundle_));
    }
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw UsageError("input " + bundle_.name + ": " + why);
  }

  const InputBundle& bundle_;
  ListedValues values_;
  std::string lane_;
};

}  // namespace

std::uint32_t BundleReading::value_bits() const {
  const std::uint32_t width = ValueType::parse(type).width;
  return width == 0 ? bits : width;
}

std::string BundleReading::text() const {
  if (format == ValueFormat::Bytes) return "bytes";
  const std::uint32_t width = value_bits();
  std::string name = reading == Reading::Fixed ? type : std::string(name_of(reading));
  if (width == bits) return name;
  return std::to_string(bits / width) + " x " + name +
         (reading == Reading::Fixed ? "" : " of " + std::to_string(width) + " bits");
}

std::string BundleReading::why_unfit(std::string_view given) const {
  const ValueType given_type = ValueType::parse(given);
  if (given_type.kind == ValueType::Kind::None) return {};
  const std::string name(given);
  if (format == ValueFormat::MsbInteger)
    return "type " + name + " is not for the format " + std::string(name_of(format));
  if (format == ValueFormat::Bytes) {
    const bool is_byte =
        given_type.kind == ValueType::Kind::Unsigned && given_type.width == kByteBits;
    if (given_type.width % kByteBits != 0 || (given_type.is_number() && !is_byte))
      return "it is a string of bytes, so type " + name +
             " does not fit: u8, hexN, strN and raw do";
  } else if (reading != Reading::Bits) {
    const std::uint32_t width = value_bits();
    const bool is_hex = given_type.kind == ValueType::Kind::Hex &&
                        (given_type.width == width || given_type.width == bits);
    const bool is_same =
        given_type.reading() == reading && given_type.width == width &&
        (reading != Reading::Fixed || given_type.fraction == ValueType::parse(type).fraction);
    if (!is_hex && !is_same) return "the circuit reads it as " + text() + ", not as " + name;
  }
  if (bits % given_type.width != 0)
    return "its " + std::to_string(bits) + " bits are no whole number of values of type " + name;
  return {};
}

template <class Bundle>
void set_type(Bundle& bundle, std::string_view type) {
  if (type.empty()) return;
  const bool is_hex = ValueType::parse(type).kind == ValueType::Kind::Hex;
  BundleReading any(bundle);
  if (is_hex && (any.reading == Reading::Fixed || any.reading == Reading::Text))
    throw UsageError("its values are of type " + bundle.type + ", of which " + std::string(type) +
                     " says nothing");
  // Digits of whole values alone leave the reading and the conditions as they are.
  if (!is_hex || any.value_bits() != ValueType::parse(type).width) any.reading = Reading::Bits;
  if (const std::string why = any.why_unfit(type); !why.empty()) throw UsageError(why);
  bundle.type = type;
  if (bundle.format != ValueFormat::Bytes)
    bundle.reading = is_hex ? any.reading : ValueType::parse(type).reading();
}
template void set_type(InputBundle&, std::string_view);
template void set_type(OutputBundle&, std::string_view);

void require_possible(const InputBundle& bundle) {
  const InputConditions& conditions = bundle.conditions;
  if (conditions == InputConditions{}) return;
  const auto refuse = [&](const std::string& why) {
    throw UsageError("input " + bundle.name + ": " + why);
  };
  if (bundle.reading == Reading::Bits || bundle.format != ValueFormat::Integer)
    refuse("conditions are for texts, and for numbers whose lowest bit comes first");
  if (!conditions.range) return;
  if (bundle.reading == Reading::Text || BundleReading(bundle).value_bits() > kNumberBitsMax)
    refuse("a range is for numbers of at most 64 bits");
  if (is_above(conditions.range->lowest, conditions.range->highest, bundle.reading))
    refuse("the lowest number of its range is above the highest");
}

void require_conditions(const InputBundle& bundle, const LaneMatrix& values) {
  const InputConditions& conditions = bundle.conditions;
  if (conditions == InputConditions{}) return;
  for (std::size_t lane = 0; lane < values.lanes(); ++lane) {
    const ConditionCheck check(bundle, values, lane);
    if (conditions.is_ascending) check.ascending();
    if (conditions.is_distinct) check.distinct();
    if (conditions.range) check.within(*conditions.range);
  }
}

std::string conditions_text(const InputBundle& bundle) {
  const InputConditions& conditions = bundle.conditions;
  std::string text;
  const auto add = [&](const std::string& condition) {
    text += (text.empty() ? "" : ", ") + condition;
  };
  if (conditions.is_ascending) add("in ascending order");
  if (conditions.is_distinct) add("without duplicates");
  if (conditions.range) add("from " + range_text(*conditions.range, bundle));
  return text;
}

}  // namespace tinyot::circuit
