// Errors that no caller could do anything about: in the daemon's loop, and on threads of its own.
// They are logged, and the daemon goes on.
#pragma once

#include <chrono>
#include <exception>
#include <mutex>
#include <string>
#include <utility>

#include "service/event_log.h"
#include "service/log_rate.h"

namespace tinyot::service {

// Thread-safe.
class ErrorLog {
 public:
  // `event` is what the log says of each error, with the name of the peer, if there is one.
  explicit ErrorLog(std::string event, std::string peer = {}, LogLevel level = LogLevel::Error)
      : event_(std::move(event)), peer_(std::move(peer)), level_(level) {}

  // Calls `work`, and logs its error in place of passing it on. Returns whether there was none.
  template <class Work>
  bool run(const Work& work) noexcept {
    try {
      work();
      return true;
    } catch (const std::exception& error) {
      write(error.what());
    } catch (...) {
      write("an exception of an unknown type");
    }
    return false;
  }
  void write(const char* error) noexcept {
    try {
      const std::lock_guard lock(mutex_);
      const auto suppressed = lines_.admit(LogRate::Clock::now());
      if (!suppressed) return;
      if (peer_.empty())
        log_event(level_, event_, {{"error", error}, {"suppressed", *suppressed}});
      else
        log_event(level_, event_, {{"peer", peer_}, {"error", error}, {"suppressed", *suppressed}});
    } catch (...) {
      // There is no memory for the line.
    }
  }

 private:
  const std::string event_, peer_;
  const LogLevel level_;
  std::mutex mutex_;
  LogRate lines_;
};

}  // namespace tinyot::service
