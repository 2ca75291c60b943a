// The time of day as text, and the CPU time of a thread.
#pragma once

#include <pthread.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>

namespace tinyot::system {

// UTC in the form of RFC 3339, as 2026-01-31T23:59:59Z.
inline std::string utc_text(
    std::chrono::system_clock::time_point time = std::chrono::system_clock::now()) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

// The same with milliseconds, as 2026-01-31T23:59:59.042Z.
inline std::string utc_text_ms(
    std::chrono::system_clock::time_point time = std::chrono::system_clock::now()) {
  const auto since_epoch = time.time_since_epoch();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count() % 1000;
  std::string text = utc_text(time);
  char fraction[8];
  std::snprintf(fraction, sizeof fraction, ".%03d", static_cast<int>(ms));
  text.insert(text.size() - 1, fraction);
  return text;
}

inline double cpu_seconds(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
// Of the calling thread.
inline double thread_cpu_seconds() { return cpu_seconds(CLOCK_THREAD_CPUTIME_ID); }
// Of a thread that has not ended; 0 if it cannot be told.
inline double cpu_seconds_of(pthread_t thread) {
  clockid_t clock{};
  return ::pthread_getcpuclockid(thread, &clock) == 0 ? cpu_seconds(clock) : 0;
}

}  // namespace tinyot::system
