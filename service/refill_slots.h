// How many refills run at a time, of all peers together. A free slot goes to the peer that has
// waited longest. While another peer waits, a refill has to move its bytes at a least rate, and the
// oldest one that has had its turn ends after its unit: no peer keeps the others from their
// refills.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "service/cancellable_stream.h"

namespace tinyot::service {

struct RefillTimes {
  // Over which the rate of a refill is measured.
  std::chrono::milliseconds rate_interval{30'000};
  // For so long a peer that is busy with others keeps its place.
  std::chrono::milliseconds busy{60'000};
};

// Thread-safe.
class RefillSlots {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr auto kWaitRenewal = std::chrono::seconds(5);  // a waiting peer asks more often
  static constexpr auto kTurn = std::chrono::minutes(10);        // that a refill has in any case
  static constexpr std::uint64_t kLeastRate = std::uint64_t{64} << 10;  // bytes/s, both ways

  enum class End : std::uint8_t { AfterUnit, AtOnce };

  explicit RefillSlots(std::size_t count, const RefillTimes& times = {})
      : count_(count), times_(times) {}

  const RefillTimes& times() const { return times_; }

  // A refill in progress; its slot is free once the object ends.
  class Slot {
   public:
    ~Slot();
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;

   private:
    friend class RefillSlots;
    Slot(RefillSlots& slots, const ByteCount& moved, std::function<void(End)> end,
         Clock::time_point now);

    RefillSlots& slots_;
    const ByteCount& moved_;
    const std::function<void(End)> end_;
    const Clock::time_point begun_;
    Clock::time_point measured_;  // when `moved_before_` was read
    std::uint64_t moved_before_ = 0;
  };

  // Whether take() would return a slot. `peer` keeps its place among those that wait, as long as it
  // asks again, or takes the slot, within kWaitRenewal.
  bool is_turn_of(const std::string& peer, Clock::time_point now);
  // `peer` gives up its place: it takes no slot now.
  void leave(const std::string& peer);

  // `moved`: the bytes that the refill has moved, in both directions; `end` ends it. Both outlive
  // the slot. Null if all slots are taken or others have waited longer; `peer` then waits, as long
  // as it asks again within kWaitRenewal.
  std::unique_ptr<Slot> take(const std::string& peer, const ByteCount& moved,
                             std::function<void(End)> end, Clock::time_point now);

 private:
  struct Waiting {
    std::string peer;
    Clock::time_point asked;
  };
  // Both under the lock.
  bool is_next(const std::string& peer, Clock::time_point now);
  void end_slow_ones(Clock::time_point now);

  const std::size_t count_;
  const RefillTimes times_;
  std::mutex mutex_;
  std::list<Slot*> taken_;      // oldest first
  std::list<Waiting> waiting_;  // longest first
};

}  // namespace tinyot::service
