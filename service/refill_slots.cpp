#include "service/refill_slots.h"

namespace tinyot::service {

RefillSlots::Slot::Slot(RefillSlots& slots, const ByteCount& moved, std::function<void()> end,
                        Clock::time_point now)
    : slots_(slots), moved_(moved), end_(std::move(end)), begun_(now), measured_(now) {}

RefillSlots::Slot::~Slot() {
  const std::lock_guard lock(slots_.mutex_);
  slots_.taken_.remove(this);
}

std::unique_ptr<RefillSlots::Slot> RefillSlots::take(const ByteCount& moved,
                                                     std::function<void()> end,
                                                     Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (taken_.size() < count_) {
    std::unique_ptr<Slot> slot(new Slot(*this, moved, std::move(end), now));
    taken_.push_back(slot.get());
    return slot;
  }
  for (Slot* const slot : taken_) {
    bool is_to_end = slot->begun_ + kTurn <= now;
    if (const auto elapsed = now - slot->measured_; elapsed >= kRateInterval) {
      const std::uint64_t bytes = slot->moved_;
      const double seconds = std::chrono::duration<double>(elapsed).count();
      is_to_end |= static_cast<double>(bytes - slot->moved_before_) <
                   seconds * static_cast<double>(kLeastRate);
      slot->moved_before_ = bytes;
      slot->measured_ = now;
    }
    if (is_to_end) slot->end_();
  }
  return nullptr;
}

}  // namespace tinyot::service
