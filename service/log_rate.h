// Limits the lines of the log that a peer causes: some at once, then one a second.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

namespace tinyot::service {

class LogRate {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t kAtOnce = 20;
  static constexpr auto kInterval = std::chrono::seconds(1);

  // The number of lines suppressed since the last one, if a line may be written now; otherwise this
  // one is suppressed too.
  std::optional<std::uint64_t> admit(Clock::time_point now) {
    const auto gained =
        static_cast<std::uint64_t>(std::max<std::int64_t>((now - since_) / kInterval, 0));
    allowance_ = std::min(kAtOnce, allowance_ + std::min(gained, kAtOnce));
    since_ += gained * kInterval;
    if (allowance_ == 0) {
      ++suppressed_;
      return std::nullopt;
    }
    --allowance_;
    return std::exchange(suppressed_, 0);
  }

 private:
  std::uint64_t allowance_ = kAtOnce, suppressed_ = 0;
  Clock::time_point since_ = Clock::now();
};

}  // namespace tinyot::service
