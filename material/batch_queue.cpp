#include "material/batch_queue.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace tinyot::material {

void BatchQueue::push(std::shared_ptr<Batch> batch) {
  if (batch->count == 0) return;
  count_ += batch->count;
  batches_.push_back(std::move(batch));
}

void BatchQueue::push_first_of(BatchQueue& other) {
  ENSURE(!other.batches_.empty() && other.dropped_ == 0);
  const std::size_t count = other.batches_.front()->count;
  batches_.push_back(std::move(other.batches_.front()));
  other.batches_.pop_front();
  other.count_ -= count;
  count_ += count;
}

std::uint64_t BatchQueue::bytes() const {
  if (batches_.empty()) return 0;
  const Batch& batch = *batches_.front();
  return count_ * bytes_of(batch) / batch.count;
}

Slices BatchQueue::slices(std::uint64_t from, std::uint64_t count) const {
  ENSURE(from + count <= count_);
  Slices slices;
  std::uint64_t skip = from + dropped_;
  for (const auto& batch : batches_) {
    if (count == 0) break;
    if (skip >= batch->count) {
      skip -= batch->count;
      continue;
    }
    const std::uint64_t part = std::min(count, batch->count - skip);
    slices.push_back({batch, skip, part});
    count -= part;
    skip = 0;
  }
  return slices;
}

void BatchQueue::drop(std::uint64_t count) {
  ENSURE(count <= count_);
  count_ -= count;
  dropped_ += count;
  while (!batches_.empty() && dropped_ >= batches_.front()->count) {
    dropped_ -= batches_.front()->count;
    batches_.pop_front();
  }
}

Batch BatchQueue::take(MaterialKind kind, Party me, std::size_t count) {
  ENSURE(count <= count_);
  if (count > 0 && dropped_ == 0 && batches_.front()->count == count &&
      batches_.front().use_count() == 1) {
    Batch whole = std::move(*batches_.front());
    batches_.pop_front();
    count_ -= count;
    return whole;
  }
  Batch batch(kind, me, count);
  std::size_t done = 0;
  for (const Slice& slice : slices(0, count)) {
    copy_objects(*slice.batch, slice.from, slice.count, batch, done);
    done += slice.count;
  }
  drop(count);
  return batch;
}

std::uint64_t BatchQueues::bytes() const {
  std::uint64_t total = 0;
  for (const BatchQueue& queue : of) total += queue.bytes();
  return total;
}

}  // namespace tinyot::material
