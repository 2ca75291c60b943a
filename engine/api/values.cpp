#include "tinyot/values.h"

#include "base/error.h"
#include "engine/api/state.h"

namespace tinyot {
namespace {

constexpr std::size_t kWordBytes = 8;

SecretVector<std::byte> bytes_of(std::uint64_t integer) {
  SecretVector<std::byte> bytes(kWordBytes);
  for (std::size_t i = 0; i < kWordBytes; ++i)
    bytes[i] = static_cast<std::byte>(integer >> (8 * i));
  return bytes;
}

}  // namespace

Values::Values() : state_(std::make_unique<State>()) {}
Values::Values(const Values& other) : state_(std::make_unique<State>(*other.state_)) {}
Values::Values(Values&& other) noexcept = default;
Values& Values::operator=(Values other) noexcept {
  state_.swap(other.state_);
  return *this;
}
Values::~Values() = default;

Values& Values::set(const std::string& name, std::uint64_t integer) {
  return set(name, std::span(&integer, 1));
}

Values& Values::set(const std::string& name, std::span<const std::uint64_t> integers) {
  std::vector<SecretVector<std::byte>>& lanes = state_->values[name];
  lanes.clear();
  for (const std::uint64_t integer : integers) lanes.push_back(bytes_of(integer));
  return *this;
}

Values& Values::add(const std::string& name, std::span<const std::byte> bytes) {
  state_->values[name].emplace_back(bytes.begin(), bytes.end());
  return *this;
}

std::vector<std::string> Values::names() const {
  std::vector<std::string> names;
  for (const auto& [name, lanes] : state_->values) names.push_back(name);
  return names;
}

bool Values::contains(const std::string& name) const { return state_->values.contains(name); }

std::size_t Values::lanes(const std::string& name) const {
  const auto found = state_->values.find(name);
  return found == state_->values.end() ? 0 : found->second.size();
}

std::span<const std::byte> Values::bytes(const std::string& name, std::size_t lane) const {
  require(lane < lanes(name), "there is no such value");
  return state_->values.at(name)[lane];
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

online::BundleValues bundle_values(const circuit::InputBundle& bundle, std::size_t lanes,
                                   const Values& values) {
  const std::size_t count = bundle.same_in_all_lanes ? 1 : lanes;
  if (values.lanes(bundle.name) != count)
    throw UsageError("input " + bundle.name + " has " + std::to_string(values.lanes(bundle.name)) +
                     " values instead of " + std::to_string(count));
  online::BundleValues result(count, BitVector(bundle.bits));
  for (std::size_t lane = 0; lane < count; ++lane) {
    const auto bytes = values.bytes(bundle.name, lane);
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      const bool value = packed_bit(bytes, bit);
      if (bit < bundle.bits)
        result[lane].put(bit, value);
      else if (value)
        throw UsageError("a value of input " + bundle.name + " has more than " +
                         std::to_string(bundle.bits) + " bits");
    }
  }
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

online::InputValues input_values(const circuit::CircuitInfo& info, Party party, std::size_t lanes,
                                 const Values& values) {
  check_lanes(lanes);
  online::InputValues result(info.inputs.size());
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

Values output_values(const circuit::CircuitInfo& info, const online::InputValues& outputs) {
  Values values;
  for (std::size_t b = 0; b < info.outputs.size(); ++b) {
    if (!outputs[b]) continue;
    for (const BitVector& value : *outputs[b]) {
      SecretVector<std::byte> bytes((value.size() + 7) / 8);
      std::ranges::fill(bytes, std::byte{0});
      for (std::size_t bit = 0; bit < value.size(); ++bit)
        bytes[bit / 8] |= static_cast<std::byte>(unsigned{value[bit]} << (bit % 8));
      values.add(info.outputs[b].name, bytes);
    }
  }
  return values;
}

}  // namespace tinyot
