#include "storage/pour_queue.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace tinyot::storage {

void PourQueue::add(MaterialBatch batch) {
  if (batch.count == 0) return;
  KindQueue& queue = of(batch.kind);
  queue.count += batch.count;
  queue.batches.push_back(std::move(batch));
}

std::uint64_t PourQueue::bytes() const {
  std::uint64_t total = 0;
  for (const KindQueue& queue : queues_) {
    if (queue.batches.empty()) continue;
    const MaterialBatch& batch = queue.batches.front();
    total += queue.count * bytes_of(batch) / batch.count;
  }
  return total;
}

std::vector<Segment> PourQueue::segments(MaterialKind kind, std::uint64_t from,
                                         std::uint64_t count) const {
  const KindQueue& queue = of(kind);
  ENSURE(from + count <= queue.count);
  std::vector<Segment> result;
  std::uint64_t skip = from + queue.taken;
  for (const MaterialBatch& batch : queue.batches) {
    if (count == 0) break;
    if (skip >= batch.count) {
      skip -= batch.count;
      continue;
    }
    const std::uint64_t part = std::min(count, batch.count - skip);
    result.push_back({&batch, skip, part});
    count -= part;
    skip = 0;
  }
  return result;
}

void PourQueue::drop_front(MaterialKind kind, std::uint64_t count) {
  KindQueue& queue = of(kind);
  ENSURE(count <= queue.count);
  queue.count -= count;
  queue.taken += count;
  while (!queue.batches.empty() && queue.taken >= queue.batches.front().count) {
    queue.taken -= queue.batches.front().count;
    queue.batches.pop_front();
  }
  if (queue.taken == 0) return;
  // The remainder is copied if it is small, so that it does not keep a large batch in memory.
  MaterialBatch& front = queue.batches.front();
  const std::size_t rest = front.count - queue.taken;
  if (rest >= record_capacity(kind) || rest > front.count / 2) return;
  MaterialBatch shorter;
  shorter.kind = kind;
  shorter.count = rest;
  for (std::size_t column = 0; column < front.mine.size(); ++column)
    shorter.mine.emplace_back(rest);
  for (std::size_t column = 0; column < front.peers.size(); ++column)
    shorter.peers.emplace_back(rest);
  for (std::size_t column = 0; column < front.shares.size(); ++column)
    shorter.shares.emplace_back(rest);
  copy_objects(front, queue.taken, rest, shorter, 0);
  front = std::move(shorter);
  queue.taken = 0;
}

}  // namespace tinyot::storage
