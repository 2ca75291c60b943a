// A channel that cheats: it lets a party follow the protocol and changes what it sends.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/channel.h"
#include "tests/support/layers.h"

namespace tinyot::test {

// Called for each message that goes out: its tag's name, how many of that name went before, and its
// payload, to be changed.
using Deviation = std::function<void(std::string_view tag, std::size_t occurrence,
                                     std::vector<std::byte>& payload)>;

std::unique_ptr<Channel> make_cheating_channel(std::unique_ptr<Channel> inner, Deviation deviation);

// Flips one bit of the given occurrence of a message.
Deviation flip_bit(std::string tag, std::size_t occurrence, std::size_t bit);

}  // namespace tinyot::test
