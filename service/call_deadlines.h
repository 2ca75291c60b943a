// The calls of clients that have to send or to take something: a client that takes too long for a
// message, or for all of them, loses its call, and what the call holds is free.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <list>
#include <mutex>
#include <utility>

namespace tinyot::service {

// Thread-safe.
class CallDeadlines {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr auto kMessageTime = std::chrono::seconds(60);

  // One call, until the object ends.
  class Call {
   public:
    // `cancel` ends the call, and every wait in it; it is called once at most, under the lock of
    // CallDeadlines. `time` is that of all messages, from `now` on.
    Call(CallDeadlines& calls, std::function<void()> cancel, Clock::duration time,
         Clock::time_point now);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    // The next message is waited for, or sent, from now on.
    void begin_message(Clock::time_point now);

   private:
    friend class CallDeadlines;
    CallDeadlines& calls_;
    std::function<void()> cancel_;  // empty once it has been called
    const Clock::time_point end_;
    Clock::time_point until_;
  };

  // Returns how many calls it has ended.
  std::size_t end_late(Clock::time_point now);

 private:
  std::mutex mutex_;
  std::list<Call*> calls_;
};

}  // namespace tinyot::service
