#include "net/rate.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace tinyot::net {
namespace {

constexpr MessageTag kRate = message_tag("session.rate");
using Clock = std::chrono::steady_clock;
using Long = std::array<std::byte, 12288>;
constexpr std::size_t kLongMessages = 3;

}  // namespace

double measure_rate(Channel& channel) {
  (void)recv_object<std::uint64_t>(channel, kRate);
  auto before = Clock::now();
  std::array<double, kLongMessages> times_s{};
  for (double& time_s : times_s) {
    (void)recv_object<Long>(channel, kRate);
    const auto now = Clock::now();
    time_s = std::chrono::duration<double>(now - std::exchange(before, now)).count();
  }
  std::ranges::sort(times_s);
  const double median_s = times_s[kLongMessages / 2];
  return std::clamp(8 * sizeof(Long) / std::max(median_s, 1e-9), kRateLeast, kRateMost);
}

// The short one arrives by itself, over TLS, too.
void send_for_rate(Channel& channel) {
  send_object(channel, kRate, std::uint64_t{0});
  channel.flush();
  for (std::size_t i = 0; i < kLongMessages; ++i) {
    send_object(channel, kRate, Long{});
    channel.flush();
  }
}

}  // namespace tinyot::net
