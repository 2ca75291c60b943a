// Limits how long one call waits for the peer. The idle timeout starts with the call and restarts
// at the first byte of progress and after each further kStepBytes. So a call that moves n bytes
// ends within (2 + n / kStepBytes) idle timeouts, however slow the peer is.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "base/error.h"

namespace tinyot::net {

class IdleTimer {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kStepBytes = std::size_t{16} << 10;

  explicit IdleTimer(std::chrono::milliseconds timeout) : timeout_(timeout) { restart(); }

  Clock::time_point until() const { return until_; }

  void add_progress(std::size_t bytes) {
    moved_ += bytes;
    if (moved_ < restart_bytes_) return;
    moved_ = 0;
    restart_bytes_ = kStepBytes;
    restart();
  }

  // Fails: NetworkError if the timeout has expired.
  void check() const {
    if (Clock::now() < until_) return;
    throw NetworkError("no progress for " + std::to_string(timeout_.count() / 1000) +
                           " s (the idle timeout): the peer has failed or is unreachable",
                       {}, Remedy::AllowLongerIdle);
  }

 private:
  void restart() { until_ = Clock::now() + timeout_; }

  std::chrono::milliseconds timeout_;
  Clock::time_point until_;
  std::size_t moved_ = 0;          // bytes since the last restart
  std::size_t restart_bytes_ = 1;  // bytes that cause the next restart
};

}  // namespace tinyot::net
