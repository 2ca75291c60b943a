#include "net/latency.h"

#include <algorithm>

namespace tinyot::net {
namespace {

constexpr MessageTag kLatency = message_tag("session.latency");
using Clock = std::chrono::steady_clock;

std::uint64_t exchange(Channel& channel, std::uint64_t mine) {
  send_object(channel, kLatency, mine);
  return recv_object<std::uint64_t>(channel, kLatency);
}

}  // namespace

std::chrono::nanoseconds measure_latency(Channel& channel) {
  // Step 1: neither party is waited for in step 2.
  exchange(channel, 0);
  // Step 2: if this party is early by s, it measures s more than a message takes, the other one s
  // less.
  const auto begin = Clock::now();
  exchange(channel, 0);
  const auto mine =
      static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - begin).count());
  // Step 3.
  const std::uint64_t peers = exchange(channel, mine),
                      max = std::chrono::nanoseconds(kLatencyMax).count();
  return std::chrono::nanoseconds(std::min(std::max(mine, peers), max));
}

}  // namespace tinyot::net
