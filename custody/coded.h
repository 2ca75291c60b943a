// Between the types of custody and its messages of Protocol Buffers. What is read is checked: the
// functions that take return false for a value of the wrong size, or out of range.
#pragma once

#include <google/protobuf/message_lite.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "custody.pb.h"
#include "custody/key.h"

namespace tinyot::custody {

inline void put_bytes(std::span<const std::byte> bytes, std::string& to) {
  to.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}
inline bool take_bytes(const std::string& from, std::span<std::byte> bytes) {
  if (from.size() != bytes.size()) return false;
  std::ranges::copy(std::as_bytes(std::span(from)), bytes.begin());
  return true;
}

template <class Enum>
bool take_number(std::uint32_t number, Enum first, Enum last, Enum& value) {
  if (number < static_cast<std::uint32_t>(first) || number > static_cast<std::uint32_t>(last))
    return false;
  value = static_cast<Enum>(number);
  return true;
}

inline void put_epoch(const Epoch& epoch, coded::Epoch& to) {
  to.set_number(epoch.number);
  put_bytes(epoch.tag, *to.mutable_tag());
}
inline bool take_epoch(const coded::Epoch& from, Epoch& epoch) {
  epoch.number = from.number();
  return epoch.number > 0 && epoch.number <= kEpochNumberMax && take_bytes(from.tag(), epoch.tag);
}

void put_attributes(const KeyAttributes& attributes, coded::Attributes& to);
// Also false for attributes that no key has.
bool take_attributes(const coded::Attributes& from, KeyAttributes& attributes);

inline std::vector<std::byte> serialised(const google::protobuf::MessageLite& message) {
  std::vector<std::byte> bytes(message.ByteSizeLong());
  message.SerializeToArray(bytes.data(), static_cast<int>(bytes.size()));
  return bytes;
}

}  // namespace tinyot::custody
