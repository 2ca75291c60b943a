#include "storage/material_pipe.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "storage/record.h"

namespace tinyot::storage {

void MaterialPipe::pour(MaterialBatch batch) {
  std::unique_lock lock(mutex_);
  if (!unit_begun_)
    changed_.wait(lock,
                  [&] { return end_ || drains_ || awaited_ || ready_bytes_ < kReadyBytesMax; });
  if (end_) std::rethrow_exception(end_);
  unit_begun_ = true;
  if (drains_) return;
  if (batch.count > 0) queue_of(batch.kind).open.push_back(std::move(batch));
}

void MaterialPipe::finish_unit() {
  const std::lock_guard lock(mutex_);
  if (end_) std::rethrow_exception(end_);
  for (KindQueue& queue : queues_) {
    for (MaterialBatch& batch : queue.open) {
      queue.ready_count += batch.count;
      ready_bytes_ += bytes_of(batch);
      queue.ready.push_back(std::move(batch));
    }
    queue.open.clear();
  }
  unit_begun_ = false;
  changed_.notify_all();
}

std::uint64_t MaterialPipe::ready(MaterialKind kind) {
  const std::lock_guard lock(mutex_);
  return queue_of(kind).ready_count;
}

MaterialBatch MaterialPipe::draw(MaterialKind kind, std::size_t count) {
  std::unique_lock lock(mutex_);
  KindQueue& queue = queue_of(kind);
  if (queue.ready_count < count && !end_) {
    awaited_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return queue.ready_count >= count || end_; });
    awaited_ = false;
  }
  if (queue.ready_count < count) std::rethrow_exception(end_);
  MaterialBatch batch = take(queue, kind, count);
  changed_.notify_all();
  return batch;
}

// A batch that is drawn exactly as it was poured is moved, not copied.
MaterialBatch MaterialPipe::take(KindQueue& queue, MaterialKind kind, std::size_t count) {
  queue.ready_count -= count;
  if (count > 0 && queue.taken == 0 && queue.ready.front().count == count) {
    MaterialBatch whole = std::move(queue.ready.front());
    queue.ready.pop_front();
    ready_bytes_ -= bytes_of(whole);
    return whole;
  }
  MaterialBatch batch(kind, me_, count);
  for (std::size_t done = 0; done < count;) {
    const MaterialBatch& front = queue.ready.front();
    const std::size_t part = std::min(count - done, front.count - queue.taken);
    copy_objects(front, queue.taken, part, batch, done);
    done += part;
    queue.taken += part;
    if (queue.taken < front.count) break;
    ready_bytes_ -= bytes_of(front);
    queue.ready.pop_front();
    queue.taken = 0;
  }
  return batch;
}

void MaterialPipe::drain() noexcept {
  const std::lock_guard lock(mutex_);
  drains_ = true;
  changed_.notify_all();
}

void MaterialPipe::end(std::exception_ptr reason) noexcept {
  const std::lock_guard lock(mutex_);
  if (!end_) end_ = std::move(reason);
  changed_.notify_all();
}

}  // namespace tinyot::storage
