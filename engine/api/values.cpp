#include "tinyot/values.h"

#include "base/error.h"
#include "engine/api/state.h"

namespace tinyot {
namespace {

constexpr std::size_t kWordBytes = 8;

}  // namespace

Values& Values::set(const std::string& name, std::uint64_t integer) {
  return set(name, std::span(&integer, 1));
}

Values& Values::set(const std::string& name, std::span<const std::uint64_t> integers) {
  LaneMatrix values(integers.size(), 8 * kWordBytes);
  for (std::size_t lane = 0; lane < integers.size(); ++lane)
    for (std::size_t bit = 0; bit < 8 * kWordBytes; ++bit)
      values[lane].put(bit, ((integers[lane] >> bit) & 1) != 0);
  return set(name, std::move(values));
}

Values& Values::set(const std::string& name, LaneMatrix values) {
  values_.insert_or_assign(name, std::move(values));
  return *this;
}

Values& Values::add(const std::string& name, std::span<const std::byte> bytes) {
  LaneMatrix& values = values_.try_emplace(name, 0, 8 * bytes.size()).first->second;
  require(values.bits() == 8 * bytes.size() && values.append(bytes),
          "the values of a bundle have different numbers of bytes");
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

LaneMatrix bundle_values(const circuit::InputBundle& bundle, std::size_t lanes,
                         const Values& values) {
  const std::size_t count = bundle.same_in_all_lanes ? 1 : lanes;
  if (values.lanes(bundle.name) != count)
    throw UsageError("input " + bundle.name + " has " + std::to_string(values.lanes(bundle.name)) +
                     " values instead of " + std::to_string(count));
  const LaneMatrix& given = values.at(bundle.name);
  if (given.bits() == bundle.bits) return given;
  LaneMatrix result(count, bundle.bits);
  for (std::size_t lane = 0; lane < count; ++lane)
    if (!result.assign(lane, given[lane].bytes()))
      throw UsageError("a value of input " + bundle.name + " has more than " +
                       std::to_string(bundle.bits) + " bits");
  return result;
}

void check_lanes(std::size_t lanes) {
  if (lanes < 1 || lanes > engine::LoadedCircuit::kLanesMax)
    throw UsageError("lanes are out of range: 1 to 2^24");
}

void check_names(const circuit::CircuitInfo& info, const Values& values) {
  for (const std::string& name : values.names())
    if (std::ranges::find(info.inputs, name, &circuit::InputBundle::name) == info.inputs.end())
      throw UsageError("the circuit has no input " + name);
}

online::BundleValues input_values(const circuit::CircuitInfo& info, Party party, std::size_t lanes,
                                  const Values& values) {
  check_lanes(lanes);
  online::BundleValues result(info.inputs.size());
  for (std::size_t b = 0; b < info.inputs.size(); ++b) {
    const circuit::InputBundle& bundle = info.inputs[b];
    const bool is_mine = bundle.owner == party, is_given = values.contains(bundle.name);
    if (is_mine != is_given)
      throw UsageError("input " + bundle.name + (is_mine ? " is missing" : " belongs to the peer"));
    if (is_mine) result[b] = bundle_values(bundle, lanes, values);
  }
  check_names(info, values);
  return result;
}

Values output_values(const circuit::CircuitInfo& info, online::BundleValues outputs) {
  Values values;
  for (std::size_t b = 0; b < info.outputs.size(); ++b)
    if (outputs[b]) values.set(info.outputs[b].name, std::move(*outputs[b]));
  return values;
}

}  // namespace tinyot
