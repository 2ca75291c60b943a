// A channel that simulates a cheating party: it changes messages that the party sends.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/channel.h"
#include "tests/support/layers.h"

namespace tinyot::test {

// Called for each message that is sent, with the name of its tag, the number of earlier messages of
// that name, and its payload, which it may change.
using Deviation = std::function<void(std::string_view tag, std::size_t occurrence,
                                     std::vector<std::byte>& payload)>;

std::unique_ptr<Channel> make_cheating_channel(std::unique_ptr<Channel> inner, Deviation deviation);

// Flips one bit of the given occurrence of a message.
Deviation flip_bit(std::string tag, std::size_t occurrence, std::size_t bit);

}  // namespace tinyot::test
