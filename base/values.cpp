#include "tinyot/values.h"

#include <bit>

#include "tinyot/error.h"

namespace tinyot {
namespace {

constexpr std::size_t kWordBytes = 8;
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
  require(found != values_.end(), "there is no such value");
  return found->second;
}

std::size_t Values::lanes(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? 0 : found->second.lanes();
}

std::span<const std::byte> Values::bytes(const std::string& name, std::size_t lane) const {
  return at(name)[lane].bytes();
}

std::uint64_t Values::integer(const std::string& name, std::size_t lane) const {
  const auto all = bytes(name, lane);
  std::uint64_t integer = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    require(i < kWordBytes || all[i] == std::byte{0}, "the value has more than 64 bits");
    if (i < kWordBytes) integer |= std::to_integer<std::uint64_t>(all[i]) << (8 * i);
  }
  return integer;
}

}  // namespace tinyot
