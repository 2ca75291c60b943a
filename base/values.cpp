#include "tinyot/values.h"

#include <bit>

#include "base/suggestion.h"
#include "tinyot/error.h"

namespace tinyot {
namespace {

constexpr std::size_t kWordBytes = 8, kIntegerBits = 8 * kWordBytes;
static_assert(std::endian::native == std::endian::little, "rows are little-endian");

}  // namespace

Values& Values::set(const std::string& name, std::uint64_t integer) {
  return set(name, std::span(&integer, 1));
}

Values& Values::set(const std::string& name, std::span<const std::uint64_t> integers) {
  LaneMatrix values(integers.size(), 8 * kWordBytes);
  for (std::size_t lane = 0; lane < integers.size(); ++lane)
    (void)values.assign(lane, std::as_bytes(integers.subspan(lane, 1)));  // they fit
  return set(name, std::move(values));
}

Values& Values::set_signed(const std::string& name, std::int64_t integer, std::size_t bits) {
  return set_signed(name, std::span(&integer, 1), bits);
}

Values& Values::set_signed(const std::string& name, std::span<const std::int64_t> integers,
                           std::size_t bits) {
  if (bits < 1 || bits > kIntegerBits)
    throw UsageError("value '" + name + "': " + std::to_string(bits) +
                     " bits are out of range: 1 to 64");
  LaneMatrix values(integers.size(), bits);
  const std::size_t unused = kIntegerBits - bits;
  for (std::size_t lane = 0; lane < integers.size(); ++lane) {
    const auto shifted = static_cast<std::uint64_t>(integers[lane]) << unused;
    if (static_cast<std::int64_t>(shifted) >> unused != integers[lane])
      throw UsageError("value '" + name + "' does not fit " + std::to_string(bits) +
                       " bits (signed)");
    const std::uint64_t row = shifted >> unused;
    (void)values.assign(lane, std::as_bytes(std::span(&row, 1)).first((bits + 7) / 8));
  }
  return set(name, std::move(values));
}

Values& Values::set(const std::string& name, LaneMatrix values) {
  values_.insert_or_assign(name, std::move(values));
  return *this;
}

Values& Values::add(const std::string& name, std::span<const std::byte> bytes) {
  LaneMatrix& values = values_.try_emplace(name, 0, 8 * bytes.size()).first->second;
  if (8 * bytes.size() > values.bits()) {
    LaneMatrix wider(0, 8 * bytes.size());
    for (std::size_t lane = 0; lane < values.lanes(); ++lane)
      (void)wider.append(values[lane].bytes());
    values = std::move(wider);
  }
  (void)values.append(bytes);  // as wide as a row at most
  return *this;
}

std::vector<std::string> Values::names() const {
  std::vector<std::string> names;
  for (const auto& [name, values] : values_) names.push_back(name);
  return names;
}

const LaneMatrix& Values::at(const std::string& name) const {
  const auto found = values_.find(name);
  if (found != values_.end()) return found->second;
  std::string known;
  for (const auto& [other, values] : values_) known += (known.empty() ? "'" : ", '") + other + "'";
  throw UsageError("there is no value '" + name + "'" + did_you_mean(name, names()) + "; there " +
                   (known.empty() ? "are none" : "are " + known));
}

std::size_t Values::lanes(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? 0 : found->second.lanes();
}

std::span<const std::byte> Values::bytes(const std::string& name, std::size_t lane) const {
  const LaneMatrix& values = at(name);
  if (lane >= values.lanes())
    throw UsageError("value '" + name + "' has no lane " + std::to_string(lane) + "; it has " +
                     std::to_string(values.lanes()));
  return values[lane].bytes();
}

std::uint64_t Values::integer(const std::string& name, std::size_t lane) const {
  const auto all = bytes(name, lane);
  std::uint64_t integer = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i >= kWordBytes && all[i] != std::byte{0})
      throw UsageError("value '" + name + "' has more than 64 bits");
    if (i < kWordBytes) integer |= std::to_integer<std::uint64_t>(all[i]) << (8 * i);
  }
  return integer;
}

std::int64_t Values::signed_integer(const std::string& name, std::size_t lane) const {
  const std::size_t bits = at(name).bits();
  if (bits < 1 || bits > kIntegerBits)
    throw UsageError("value '" + name + "' has " + std::to_string(bits) +
                     " bits: a signed integer has 1 to 64");
  const std::size_t unused = kIntegerBits - bits;
  return static_cast<std::int64_t>(integer(name, lane) << unused) >> unused;
}

}  // namespace tinyot
