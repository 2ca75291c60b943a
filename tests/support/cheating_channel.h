// Channels that change, or record, the messages that a party sends.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/support/channel_decorator.h"
#include "tests/support/layers.h"

namespace tinyot::test {

// Called for each message that is sent, with the name of its tag, the number of earlier messages of
// that name, and its payload, which it may change.
using Deviation = std::function<void(std::string_view tag, std::size_t occurrence,
                                     std::vector<std::byte>& payload)>;

ChannelWrapper cheating(Deviation deviation);

// Flips one bit of the given occurrence of a message.
Deviation flip_bit(std::string tag, std::size_t occurrence, std::size_t bit);

struct Message {
  std::string tag;
  std::size_t occurrence;
  std::vector<std::byte> payload;

  bool operator==(const Message&) const = default;
};
using Messages = std::vector<Message>;

// Records the messages that a party sends.
ChannelWrapper recording(Messages& sent);

// Of the messages of a tag: the payload of one, and the number of bytes of all.
// Fails: std::out_of_range if there is no such message.
std::vector<std::byte> payload_of(const Messages& sent, std::string_view tag,
                                  std::size_t occurrence = 0);
std::size_t bytes_of(const Messages& sent, std::string_view tag);

}  // namespace tinyot::test
