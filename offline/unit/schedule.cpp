#include "offline/unit/schedule.h"

#include <algorithm>

#include "base/error.h"

namespace tinyot::offline {

void SeedLanes::put(std::size_t run, BaseOts seeds) {
  const std::lock_guard lock(mutex_);
  ENSURE(seeds_.emplace(run, std::move(seeds)).second);
  changed_.notify_all();
}

BaseOts SeedLanes::take(std::size_t run) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopped_ || seeds_.contains(run); });
  if (stopped_) throw WorkerStopped();
  return std::move(seeds_.extract(run).mapped());
}

void SeedLanes::stop() noexcept {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

void BulkTurns::begin(std::size_t unit) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopped_ || unit < ended_ + at_a_time_; });
  if (stopped_) throw WorkerStopped();
}

void BulkTurns::end() {
  const std::lock_guard lock(mutex_);
  ++ended_;
  changed_.notify_all();
}

void BulkTurns::stop() noexcept {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

bool UnitTurns::begin(std::size_t unit) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopped_ || next_ == unit || end_ <= unit; });
  if (stopped_) throw WorkerStopped();
  return unit < end_;
}

void UnitTurns::check() {
  const std::lock_guard lock(mutex_);
  if (stopped_) throw WorkerStopped();
}

void UnitTurns::end(std::size_t unit) {
  const std::lock_guard lock(mutex_);
  ENSURE(next_ == unit);
  ++next_;
  changed_.notify_all();
}

void UnitTurns::end_job_before(std::size_t unit) {
  const std::lock_guard lock(mutex_);
  end_ = std::min(end_, unit);
  changed_.notify_all();
}

bool UnitTurns::job_ends_before(std::size_t unit) {
  const std::lock_guard lock(mutex_);
  return end_ <= unit;
}

void UnitTurns::stop() noexcept {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

}  // namespace tinyot::offline
