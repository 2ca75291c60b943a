#include "tinyot/values.h"

#include <bit>

#include "base/suggestion.h"
#include "tinyot/error.h"

namespace tinyot {
namespace {

constexpr std::size_t kWordBytes = 8, kIntegerBits = 8 * kWordBytes;
static_assert(std::endian::native == std::endian::little, "rows are little-endian");

using circuit::Reading;

void require_integer_bits(const std::string& name, std::size_t bits) {
  if (bits < 1 || bits > kIntegerBits)
    throw UsageError("value '" + name + "': " + std::to_string(bits) +
                     " bits are out of range: 1 to 64");
}

std::int64_t with_sign(std::uint64_t integer, std::size_t bits) {
  const std::size_t unused = kIntegerBits - bits;
  return static_cast<std::int64_t>(integer << unused) >> unused;
}

// The bits of a signed integer. Fails: UsageError if it does not fit.
std::uint64_t signed_row(const std::string& name, std::int64_t integer, std::size_t bits) {
  const auto row = static_cast<std::uint64_t>(integer);
  if (with_sign(row, bits) != integer)
    throw UsageError("value '" + name + "' does not fit " + std::to_string(bits) +
                     " bits (signed)");
  const std::size_t unused = kIntegerBits - bits;
  return row << unused >> unused;
}

void put_element(Lane list, std::size_t k, std::size_t bits, std::uint64_t integer) {
  for (std::size_t i = 0; i < bits; ++i) list.put(k * bits + i, ((integer >> i) & 1) != 0);
}

}  // namespace

Values& Values::set(const std::string& name, std::uint64_t integer) {
  return set(name, std::span(&integer, 1));
}

Values& Values::set(const std::string& name, std::span<const std::uint64_t> integers) {
  LaneMatrix values(integers.size(), 8 * kWordBytes);
  for (std::size_t lane = 0; lane < integers.size(); ++lane)
    (void)values.assign(lane, std::as_bytes(integers.subspan(lane, 1)));  // they fit
  return set(name, std::move(values), {Reading::Unsigned});
}

Values& Values::set_signed(const std::string& name, std::int64_t integer, std::size_t bits) {
  return set_signed(name, std::span(&integer, 1), bits);
}

Values& Values::set_signed(const std::string& name, std::span<const std::int64_t> integers,
                           std::size_t bits) {
  require_integer_bits(name, bits);
  LaneMatrix values(integers.size(), bits);
  for (std::size_t lane = 0; lane < integers.size(); ++lane) {
    const std::uint64_t row = signed_row(name, integers[lane], bits);
    (void)values.assign(lane, std::as_bytes(std::span(&row, 1)).first((bits + 7) / 8));
  }
  return set(name, std::move(values), {Reading::Signed, bits});
}

Values& Values::set_list(const std::string& name, std::span<const std::uint64_t> integers,
                         std::size_t bits) {
  require_integer_bits(name, bits);
  LaneMatrix values(1, integers.size() * bits);
  for (std::size_t k = 0; k < integers.size(); ++k) {
    if (bits < kIntegerBits && integers[k] >> bits != 0)
      throw UsageError("value " + std::to_string(k + 1) + " of '" + name + "' does not fit " +
                       std::to_string(bits) + " bits (unsigned)");
    put_element(values[0], k, bits, integers[k]);
  }
  return set(name, std::move(values), {Reading::Unsigned, bits});
}

Values& Values::set_signed_list(const std::string& name, std::span<const std::int64_t> integers,
                                std::size_t bits) {
  require_integer_bits(name, bits);
  LaneMatrix values(1, integers.size() * bits);
  for (std::size_t k = 0; k < integers.size(); ++k)
    put_element(values[0], k, bits, signed_row(name, integers[k], bits));
  return set(name, std::move(values), {Reading::Signed, bits});
}

Values& Values::set(const std::string& name, LaneMatrix values, GivenIntegers set_as) {
  values_.insert_or_assign(name, std::move(values));
  set_as_.insert_or_assign(name, set_as);
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
  const std::size_t bits = at(name).bits();
  if (set_as(name).reading == Reading::Signed && bits > 0 && at(name)[lane][bits - 1])
    throw UsageError("value '" + name + "' is negative: signed_integer() returns it");
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
  return signed_list(name, bits, lane).front();
}

std::vector<std::uint64_t> Values::list(const std::string& name, std::size_t bits,
                                        std::size_t lane) const {
  require_integer_bits(name, bits);
  (void)bytes(name, lane);  // there is such a lane
  const LaneMatrix& values = at(name);
  if (values.bits() % bits != 0)
    throw UsageError("value '" + name + "' has " + std::to_string(values.bits()) +
                     " bits, which are no list of integers of " + std::to_string(bits));
  std::vector<std::uint64_t> integers(values.bits() / bits);
  for (std::size_t k = 0; k < integers.size(); ++k)
    for (std::size_t i = 0; i < bits; ++i)
      integers[k] |= std::uint64_t{values[lane][k * bits + i]} << i;
  return integers;
}

std::vector<std::int64_t> Values::signed_list(const std::string& name, std::size_t bits,
                                              std::size_t lane) const {
  std::vector<std::int64_t> integers;
  for (const std::uint64_t integer : list(name, bits, lane)) {
    integers.push_back(with_sign(integer, bits));
    if (integers.back() < 0 && set_as(name).reading == Reading::Unsigned)
      throw UsageError("value '" + name + "' is unsigned and does not fit a signed integer of " +
                       std::to_string(bits) + " bits: integer() and list() return it");
  }
  return integers;
}

GivenIntegers Values::set_as(const std::string& name) const {
  const auto found = set_as_.find(name);
  return found == set_as_.end() ? GivenIntegers{} : found->second;
}

}  // namespace tinyot
