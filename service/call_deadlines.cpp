#include "service/call_deadlines.h"

namespace tinyot::service {

CallDeadlines::Call::Call(CallDeadlines& calls, std::function<void()> cancel, Clock::duration time,
                          Clock::time_point now)
    : calls_(calls), cancel_(std::move(cancel)), end_(now + time),
      until_(std::min(end_, now + kMessageTime)) {
  const std::lock_guard lock(calls_.mutex_);
  calls_.calls_.push_back(this);
}

CallDeadlines::Call::~Call() {
  const std::lock_guard lock(calls_.mutex_);
  calls_.calls_.remove(this);
}

void CallDeadlines::Call::begin_message(Clock::time_point now) {
  const std::lock_guard lock(calls_.mutex_);
  until_ = std::min(end_, now + kMessageTime);
}

std::size_t CallDeadlines::end_late(Clock::time_point now) {
  std::size_t ended = 0;
  const std::lock_guard lock(mutex_);
  for (Call* const call : calls_) {
    if (!call->cancel_ || now < call->until_) continue;
    std::exchange(call->cancel_, nullptr)();
    ++ended;
  }
  return ended;
}

}  // namespace tinyot::service
