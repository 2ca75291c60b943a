#include "service/refill_slots.h"

#include <algorithm>
#include <iterator>

namespace tinyot::service {

RefillSlots::Slot::Slot(RefillSlots& slots, const ByteCount& moved, std::function<void(End)> end,
                        Clock::time_point now)
    : slots_(slots), moved_(moved), end_(std::move(end)), begun_(now), measured_(now) {}

RefillSlots::Slot::~Slot() {
  const std::lock_guard lock(slots_.mutex_);
  slots_.taken_.remove(this);
}

bool RefillSlots::is_next(const std::string& peer, Clock::time_point now) {
  std::erase_if(waiting_, [&](const Waiting& other) {
    return other.peer != peer && other.asked + kWaitRenewal < now;
  });
  auto mine = std::ranges::find(waiting_, peer, &Waiting::peer);
  if (mine == waiting_.end()) mine = waiting_.insert(waiting_.end(), {peer, now});
  mine->asked = now;
  const auto before = static_cast<std::size_t>(std::distance(waiting_.begin(), mine));
  return taken_.size() + before < count_;
}

void RefillSlots::end_slow_ones(Clock::time_point now) {
  for (Slot* const slot : taken_) {
    if (slot == taken_.front() && slot->begun_ + kTurn <= now) slot->end_(End::AfterUnit);
    const auto elapsed = now - slot->measured_;
    if (elapsed < times_.rate_interval) continue;
    const std::uint64_t bytes = slot->moved_.both();
    const double seconds = std::chrono::duration<double>(elapsed).count();
    const bool is_slow = static_cast<double>(bytes - slot->moved_before_) <
                         seconds * static_cast<double>(kLeastRate);
    slot->moved_before_ = bytes;
    slot->measured_ = now;
    if (is_slow) slot->end_(End::AtOnce);
  }
}

bool RefillSlots::is_turn_of(const std::string& peer, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (is_next(peer, now)) return true;
  end_slow_ones(now);
  return false;
}

void RefillSlots::leave(const std::string& peer) {
  const std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [&](const Waiting& other) { return other.peer == peer; });
}

std::unique_ptr<RefillSlots::Slot> RefillSlots::take(const std::string& peer,
                                                     const ByteCount& moved,
                                                     std::function<void(End)> end,
                                                     Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (!is_next(peer, now)) {
    end_slow_ones(now);
    return nullptr;
  }
  std::erase_if(waiting_, [&](const Waiting& other) { return other.peer == peer; });
  std::unique_ptr<Slot> slot(new Slot(*this, moved, std::move(end), now));
  taken_.push_back(slot.get());
  return slot;
}

}  // namespace tinyot::service
