// How long messages take between the two parties, for choosing how far they run ahead.
#pragma once

#include <chrono>

#include "net/channel.h"

namespace tinyot::net {

inline constexpr auto kLatencyMax = std::chrono::seconds(1);

// Role: both, symmetric. The larger of the two parties' measurements, at most kLatencyMax: between
// the time of a message one way and that of a round trip, and more if a machine is busy. Both
// parties get the same.
// Wire: 3 messages each way, of 8 bytes.
// Fails: as the channel. A peer that lies changes memory and speed, within the bounds of those who
// use the result, and nothing else.
std::chrono::nanoseconds measure_latency(Channel& channel);

}  // namespace tinyot::net
