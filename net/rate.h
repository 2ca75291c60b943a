// How fast the peer's bytes arrive, for choosing how many it is to send.
#pragma once

#include "net/channel.h"

namespace tinyot::net {

// Rates outside these count as one of them.
inline constexpr double kRateLeast = 1e7, kRateMost = 1e10;

// Role: the party that receives, and the one that sends, at the same time. In bits per second, from
// the time between the arrival of a short message and that of a long one behind it, which together
// fit what TCP sends before anything has been acknowledged.
// Wire: from the party that sends, 8 bytes, then 12,288.
// Fails: as the channel. A peer that lies changes speed, and nothing else.
double measure_rate(Channel& channel);
void send_for_rate(Channel& channel);

}  // namespace tinyot::net
