#include "storage/pour_queue.h"

#include <algorithm>
#include <utility>

namespace tinyot::storage {

void PourQueue::add(MaterialBatch batch) {
  if (batch.count == 0) return;
  Line& line = of(batch.kind);
  line.count += batch.count;
  line.batches.push_back(std::move(batch));
}

std::uint64_t PourQueue::bytes() const {
  std::uint64_t total = 0;
  for (const Line& line : lines_) {
    if (line.batches.empty()) continue;
    const MaterialBatch& batch = line.batches.front();
    total += line.count * bytes_of(batch) / batch.count;
  }
  return total;
}

std::vector<Segment> PourQueue::segments(MaterialKind kind, std::uint64_t from,
                                         std::uint64_t count) const {
  const Line& line = of(kind);
  ENSURE(from + count <= line.count);
  std::vector<Segment> result;
  std::uint64_t skip = from + line.taken;
  for (const MaterialBatch& batch : line.batches) {
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
  Line& line = of(kind);
  ENSURE(count <= line.count);
  line.count -= count;
  line.taken += count;
  while (!line.batches.empty() && line.taken >= line.batches.front().count) {
    line.taken -= line.batches.front().count;
    line.batches.pop_front();
  }
  if (line.taken == 0) return;
  // A rest of less than a record does not keep a long batch in memory.
  MaterialBatch& front = line.batches.front();
  const std::size_t rest = front.count - line.taken;
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
  copy_objects(front, line.taken, rest, shorter, 0);
  front = std::move(shorter);
  line.taken = 0;
}

}  // namespace tinyot::storage
