#include "offline/triples/layer_pool.h"

#include <algorithm>

#include "base/cause.h"

namespace tinyot::offline {

std::uint64_t layer_bytes(std::size_t triples) {
  return 3 * (triples * (sizeof(Mac) + sizeof(Key)) + 2 * bytes_for(triples));
}

TripleLayer LayerPool::take(std::size_t size, std::size_t bucket) {
  TripleLayer layer;
  {
    std::unique_lock lock(mutex_);
    const std::size_t more =
        std::clamp<std::size_t>(waiting_bytes_ / layer_bytes(size), waiting_, waiting_ * bucket);
    room_ = std::max(room_, units_ * bucket + more);
    changed_.wait(lock, [&] { return stopped_ || taken_ < room_; });
    if (stopped_) throw WorkerStopped();
    ++taken_;
    if (!spare_.empty()) {
      layer = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  for (SharedColumn* column : {&layer.x, &layer.y, &layer.z})
    if (column->size() != size) *column = SharedColumn(size);
  return layer;
}

void LayerPool::release(TripleLayer layer) {
  const std::lock_guard lock(mutex_);
  --taken_;
  spare_.push_back(std::move(layer));
  changed_.notify_all();
}

void LayerPool::stop() noexcept {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

}  // namespace tinyot::offline
