// The pause before the next refill or prepared run with a peer: a short one, and after failures
// longer and longer ones. A peer that breaks them off does not decide how soon the next one
// follows.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace tinyot::service {

// Without a lock.
class FailurePause {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kMin{1000}, kMax{300'000};
  // By so much a success shortens the pause. A peer could let some end well, to have the pause
  // after broken ones forgotten.
  static constexpr int kLess = 4;

  bool is_over(Clock::time_point now) const { return now >= until_; }

  // After one whose work was of use, and after one that failed.
  void shorten() { pause_ /= kLess; }
  // After one that has made so much. A peer could have one in which there is nothing to be made
  // follow on each that it breaks off.
  void shorten_after(std::uint64_t made) {
    if (made > 0) shorten();
  }
  void lengthen() { pause_ = std::min(kMax, std::max(kMin, 2 * pause_)); }

  // One has ended.
  void begin(Clock::time_point now) { until_ = now + std::max(pause_, kMin); }
  // The peer has not begun one. A pause that lasts longer is not cut short.
  void begin_shortest(Clock::time_point now) { until_ = std::max(until_, now + kMin); }

 private:
  std::chrono::milliseconds pause_{0};
  Clock::time_point until_{};
};

}  // namespace tinyot::service
