#include "engine/link_fit.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "net/rate.h"

namespace tinyot::engine {
namespace {

constexpr net::MessageTag kSample = net::message_tag("session.sample");
constexpr net::MessageTag kFit = net::message_tag("session.fit");
// Long enough for links of gigabits, which deliver some hundred microseconds' bytes at a time. TCP
// sends it slowly at first, so a long link counts as slower than it is.
constexpr std::size_t kSampleMessages = 8;
constexpr double kSampleRateMost = 1e12;
using SampleMessage = std::array<std::byte, 32768>;
constexpr std::uint64_t kMeasuredFrom = std::uint64_t{1} << 16;  // ANDs

bool is_small(std::uint64_t ands) { return ands < kMeasuredFrom; }

void send_sample(net::Channel& channel) {
  net::send_object(channel, kSample, std::uint64_t{0});
  channel.flush();
  for (std::size_t i = 0; i < kSampleMessages; ++i)
    net::send_object(channel, kSample, SampleMessage{});
  channel.flush();
}

// In bits per second, from the time in which a sample arrives.
std::uint64_t rate_of_sample(net::Channel& channel) {
  (void)net::recv_object<std::uint64_t>(channel, kSample);
  const auto before = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < kSampleMessages; ++i)
    (void)net::recv_object<SampleMessage>(channel, kSample);
  const double time_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
  constexpr double kBits = 8 * kSampleMessages * sizeof(SampleMessage);
  return static_cast<std::uint64_t>(
      std::clamp(kBits / std::max(time_s, 1e-9), net::kRateLeast, kSampleRateMost));
}

// Whatever B receives, it computes with.
double agreed_rate(Party me, net::Channel& channel) {
  if (me == Party::A) {
    const std::uint64_t bits_per_s = rate_of_sample(channel);
    net::send_object(channel, kFit, bits_per_s);
    channel.flush();
    return static_cast<double>(bits_per_s);
  }
  send_sample(channel);
  return static_cast<double>(net::recv_object<std::uint64_t>(channel, kFit));
}

}  // namespace

offline::SecurityParameters fitted_to_rate(const offline::SecurityParameters& params,
                                           std::uint64_t ands, std::uint64_t threads,
                                           double bits_per_s) {
  if (is_small(ands) || bits_per_s == 0) return params.fitted_to(offline::kUnlimitedRate);
  return params.fitted_to(bits_per_s / static_cast<double>(threads));
}

offline::SecurityParameters fitted_to_link(const offline::SecurityParameters& params,
                                           std::uint64_t ands, std::uint64_t threads, Party me,
                                           net::Channel& channel) {
  if (!params.are_open() || is_small(ands)) return params.fitted_to(offline::kUnlimitedRate);
  return params.fitted_to(agreed_rate(me, channel) / static_cast<double>(threads));
}

}  // namespace tinyot::engine
