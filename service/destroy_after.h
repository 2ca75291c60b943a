// When this party destroys its own share of a key whose peer has destroyed its share
// (config.Custody.destroy_after_s).
//
// The time is counted from when this party has first seen that, which its record has. A clock that
// is set forward while the daemon runs does not matter; one that is wrong as it starts leaves a
// day, or all of the time if that is less, in which the log and the metrics tell of it.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <vector>

#include "custody/key.h"

namespace tinyot::service {

// Not thread-safe.
class DestroyAfter {
 public:
  using System = std::chrono::system_clock;
  using Steady = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kLeastNotice = std::chrono::hours(24);

  // Never, if the time is 0. `now`: as the daemon starts.
  DestroyAfter(std::chrono::seconds time, System::time_point now, Steady::time_point steady_now)
      : time_(time), start_(now), steady_start_(steady_now) {}

  // When it is due, by the time that it was seen first; absent: never.
  std::optional<System::time_point> at(System::time_point seen) const {
    if (time_.count() == 0) return std::nullopt;
    return seen + time_;
  }

  // Later calls about a key change nothing, unless it was forgotten.
  void note(const custody::KeyId& key, System::time_point seen, Steady::time_point now) {
    if (const auto due = at(seen))
      waiting_.try_emplace(key, Waiting{*due, now + std::min(time_, kLeastNotice)});
  }
  void forget(const custody::KeyId& key) { waiting_.erase(key); }
  // Whether a key whose end was seen then waits, or never will.
  bool knows(const custody::KeyId& key, System::time_point seen) const {
    return !at(seen) || waiting_.contains(key);
  }

  // Those that are due. They are due again after a while unless they are forgotten.
  std::vector<custody::KeyId> due(Steady::time_point now) {
    std::vector<custody::KeyId> keys;
    const auto time_of_day =
        start_ + std::chrono::duration_cast<System::duration>(now - steady_start_);
    for (auto& [key, waiting] : waiting_) {
      if (time_of_day < waiting.due || now < waiting.not_before) continue;
      waiting.not_before = now + kRetryPause;
      keys.push_back(key);
    }
    return keys;
  }

 private:
  static constexpr std::chrono::minutes kRetryPause{1};
  struct Waiting {
    System::time_point due;
    Steady::time_point not_before;
  };

  const std::chrono::seconds time_;
  const System::time_point start_;
  const Steady::time_point steady_start_;
  std::map<custody::KeyId, Waiting> waiting_;
};

}  // namespace tinyot::service
