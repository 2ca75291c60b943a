#include "offline/unit/schedule.h"

#include <algorithm>

#include "base/error.h"

namespace tinyot::offline {

void BaseOtQueue::put(std::size_t run, BaseOts seeds) {
  const std::lock_guard lock(mutex_);
  ENSURE(seeds_.emplace(run, std::move(seeds)).second);
  changed_.notify_all();
}

BaseOts BaseOtQueue::take(std::size_t run) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopped_ || seeds_.contains(run); });
  if (stopped_) throw WorkerStopped();
  return std::move(seeds_.extract(run).mapped());
}

void BaseOtQueue::stop() noexcept {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

void SendPhaseSemaphore::begin(std::size_t unit) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopped_ || unit < ended_ + at_a_time_; });
  if (stopped_) throw WorkerStopped();
}

void SendPhaseSemaphore::end() {
  const std::lock_guard lock(mutex_);
  ++ended_;
  changed_.notify_all();
}

void SendPhaseSemaphore::stop() noexcept {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

bool CommitOrder::begin(std::size_t unit) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopped_ || next_ == unit || end_ <= unit; });
  if (stopped_) throw WorkerStopped();
  return unit < end_;
}

void CommitOrder::check() {
  const std::lock_guard lock(mutex_);
  if (stopped_) throw WorkerStopped();
}

void CommitOrder::end(std::size_t unit) {
  const std::lock_guard lock(mutex_);
  ENSURE(next_ == unit);
  ++next_;
  changed_.notify_all();
}

void CommitOrder::end_job_before(std::size_t unit) {
  const std::lock_guard lock(mutex_);
  end_ = std::min(end_, unit);
  changed_.notify_all();
}

bool CommitOrder::job_ends_before(std::size_t unit) {
  const std::lock_guard lock(mutex_);
  return end_ <= unit;
}

void CommitOrder::stop() noexcept {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

}  // namespace tinyot::offline
