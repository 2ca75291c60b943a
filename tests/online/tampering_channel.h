// Channels that tamper with a party's messages other than by altering what it sends.
#pragma once

#include "tests/support/channel_decorator.h"
#include "tests/support/layers.h"
#include "tests/support/two_parties.h"

namespace tinyot::test {

// Flips bits of message `number` of a kind both in what the party sends and in what it receives, so
// that the party continues consistently with its lie.
ChannelWrapper flipping_both_ways(std::string tag, std::vector<std::size_t> bits,
                                  std::size_t number = 0);

// Sends message `number` of a kind after the next one of any kind, or before the party waits for
// the peer, if that is earlier. Sets `done` if the two have been swapped.
ChannelWrapper swapping(std::string tag, std::size_t number, bool& done);

// Sends message `number` of a kind twice.
ChannelWrapper repeating(std::string tag, std::size_t number);

// Sends back each message of a kind that the party receives, in place of its own.
ChannelWrapper reflecting(std::string tag);

}  // namespace tinyot::test
