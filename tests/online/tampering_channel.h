// Channels that do to a party's messages more than change what it sends.
#pragma once

#include "tests/support/channel_decorator.h"
#include "tests/support/layers.h"
#include "tests/support/two_parties.h"

namespace tinyot::test {

// Flips bits of message `number` of a kind both in what the party sends and in what it receives: it
// goes on with what it makes the peer believe.
ChannelWrapper flipping_both_ways(std::string tag, std::vector<std::size_t> bits,
                                  std::size_t number = 0);

// Sends message `number` of a kind after the one that follows it, of whatever kind; where the party
// waits for the peer first, at that time. Sets `done` if the two have changed places.
ChannelWrapper swapping(std::string tag, std::size_t number, bool& done);

// Sends message `number` of a kind twice.
ChannelWrapper repeating(std::string tag, std::size_t number);

}  // namespace tinyot::test
