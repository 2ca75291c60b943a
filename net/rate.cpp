#include "net/rate.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace tinyot::net {
namespace {

constexpr MessageTag kRate = message_tag("session.rate");
using Clock = std::chrono::steady_clock;
using Long = std::array<std::byte, 12288>;

}  // namespace

double measure_rate(Channel& channel) {
  (void)recv_object<std::uint64_t>(channel, kRate);
  const auto begin = Clock::now();
  (void)recv_object<Long>(channel, kRate);
  const double time_s = std::chrono::duration<double>(Clock::now() - begin).count();
  return std::clamp(8 * sizeof(Long) / std::max(time_s, 1e-9), kRateLeast, kRateMost);
}

// The short one arrives by itself, over TLS, too.
void send_for_rate(Channel& channel) {
  send_object(channel, kRate, std::uint64_t{0});
  channel.flush();
  send_object(channel, kRate, Long{});
  channel.flush();
}

}  // namespace tinyot::net
