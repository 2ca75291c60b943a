// How many refills run at a time, of all peers together. While another peer waits for a slot, a
// refill has to move its bytes at a least rate and to end within a time: no peer keeps the others
// from their refills.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>

#include "service/breakable_stream.h"

namespace tinyot::service {

// Thread-safe.
class RefillSlots {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr auto kTurn = std::chrono::minutes(10);  // that a refill has in any case
  static constexpr auto kRateInterval =
      std::chrono::seconds(30);  // over which its rate is measured
  static constexpr std::uint64_t kLeastRate = std::uint64_t{64} << 10;  // bytes/s, both ways

  explicit RefillSlots(std::size_t count) : count_(count) {}

  // A refill in progress; its slot is free once the object ends.
  class Slot {
   public:
    ~Slot();
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;

   private:
    friend class RefillSlots;
    Slot(RefillSlots& slots, const ByteCount& moved, std::function<void()> end,
         Clock::time_point now);

    RefillSlots& slots_;
    const ByteCount& moved_;
    const std::function<void()> end_;
    const Clock::time_point begun_;
    Clock::time_point measured_;  // when `moved_before_` was read
    std::uint64_t moved_before_ = 0;
  };

  // `moved`: the bytes that the refill has moved, in both directions; `end` breaks it off. Both
  // outlive the slot. Null if all slots are taken; refills that are too slow, or have had their
  // time, are then broken off, and the next call may get one.
  std::unique_ptr<Slot> take(const ByteCount& moved, std::function<void()> end,
                             Clock::time_point now);

 private:
  const std::size_t count_;
  std::mutex mutex_;
  std::list<Slot*> taken_;
};

}  // namespace tinyot::service
