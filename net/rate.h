// How fast the peer's bytes arrive, for choosing how many it is to send.
#pragma once

#include "net/channel.h"

namespace tinyot::net {

// Rates outside these count as one of them.
inline constexpr double kRateLeast = 1e7, kRateMost = 1e10;

// Role: the party that receives, and the one that sends, at the same time. In bits per second, from
// the times in which three long messages arrive behind a short one. Their median counts: a party
// that is woken late reads two messages together, and TCP may wait once for an acknowledgement, as
// it sends at least one long message before it has any.
// Wire: from the party that sends, 8 bytes, then 12,288 three times.
// Fails: as the channel. A peer that lies changes speed, and nothing else.
double measure_rate(Channel& channel);
void send_for_rate(Channel& channel);

}  // namespace tinyot::net
