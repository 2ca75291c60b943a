#include "engine/link_fit.h"

#include "net/rate.h"

namespace tinyot::engine {
namespace {

constexpr net::MessageTag kFit = net::message_tag("session.fit");
constexpr std::uint64_t kSmallJob = std::uint64_t{1} << 16;  // ANDs

// B sends for it.
double agreed_rate(Party me, net::Channel& channel) {
  if (me == Party::A) {
    const double bits_per_s = net::measure_rate(channel);
    net::send_object(channel, kFit, static_cast<std::uint64_t>(bits_per_s));
    return static_cast<double>(static_cast<std::uint64_t>(bits_per_s));
  }
  net::send_for_rate(channel);
  return static_cast<double>(net::recv_object<std::uint64_t>(channel, kFit));
}

}  // namespace

double rate_for_fit(std::uint64_t ands, double bits_per_s) {
  return ands < kSmallJob || bits_per_s == 0 ? net::kRateMost : bits_per_s;
}

offline::SecurityParameters fitted_to_link(const offline::SecurityParameters& params,
                                           std::uint64_t ands, std::uint64_t threads, Party me,
                                           net::Channel& channel) {
  if (!params.are_open()) return params;
  const double bits_per_s = ands < kSmallJob ? net::kRateMost : agreed_rate(me, channel);
  return params.fitted_to(bits_per_s / static_cast<double>(threads));
}

}  // namespace tinyot::engine
