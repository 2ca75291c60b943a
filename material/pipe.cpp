#include "material/pipe.h"

#include <algorithm>
#include <utility>

namespace tinyot::material {

void Pipe::pour(Batch batch) {
  std::unique_lock lock(mutex_);
  if (!unit_begun_)
    changed_.wait(lock,
                  [&] { return end_ || drains_ || awaited_ || ready_.bytes() < kReadyBytesMax; });
  if (end_) std::rethrow_exception(end_);
  unit_begun_ = true;
  if (drains_) return;
  BatchQueue& queue = open_[batch.kind];
  queue.push(std::move(batch));
}

void Pipe::finish_unit() {
  const std::lock_guard lock(mutex_);
  if (end_) std::rethrow_exception(end_);
  for (const MaterialKind kind : kAllMaterialKinds)
    while (open_[kind].batches() > 0) ready_[kind].push_first_of(open_[kind]);
  unit_begun_ = false;
  changed_.notify_all();
}

std::uint64_t Pipe::ready(MaterialKind kind) {
  const std::lock_guard lock(mutex_);
  return ready_[kind].count();
}

void Pipe::wait_for(MaterialKind kind) {
  std::unique_lock lock(mutex_);
  (void)queue_with(lock, kind, 1);
}

BatchQueue& Pipe::queue_with(std::unique_lock<std::mutex>& lock, MaterialKind kind,
                             std::size_t count) {
  BatchQueue& queue = ready_[kind];
  if (queue.count() < count && !end_) {
    awaited_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return queue.count() >= count || end_; });
    awaited_ = false;
  }
  if (queue.count() < count) std::rethrow_exception(end_);
  return queue;
}

Batch Pipe::draw(MaterialKind kind, std::size_t count) {
  std::unique_lock lock(mutex_);
  Batch batch = queue_with(lock, kind, count).take(kind, me_, count);
  changed_.notify_all();
  return batch;
}

DrawnBatch Pipe::draw_up_to(MaterialKind kind, std::size_t count) {
  std::unique_lock lock(mutex_);
  BatchQueue& queue = queue_with(lock, kind, std::min<std::size_t>(count, 1));
  Batch batch = queue.take(kind, me_, std::min(count, queue.first_count()));
  changed_.notify_all();
  return drawn(std::move(batch));
}

void Pipe::drain() noexcept {
  const std::lock_guard lock(mutex_);
  drains_ = true;
  changed_.notify_all();
}

void Pipe::end(std::exception_ptr reason) noexcept {
  const std::lock_guard lock(mutex_);
  if (!end_) end_ = std::move(reason);
  changed_.notify_all();
}

}  // namespace tinyot::material
