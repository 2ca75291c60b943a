#include "offline/layer_pool.h"

#include "base/cause.h"

namespace tinyot::offline {

TripleLayer LayerPool::take(std::size_t size, std::size_t bucket) {
  TripleLayer layer;
  {
    std::unique_lock lock(mutex_);
    bucket_ = std::max(bucket_, bucket);
    changed_.wait(lock, [&] { return stopped_ || taken_ < units_ * bucket_ + more_; });
    if (stopped_) throw WorkerStopped();
    ++taken_;
    if (!spare_.empty()) {
      layer = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  for (SharedBits* column : {&layer.x, &layer.y, &layer.z})
    if (column->size() != size) *column = SharedBits(size);
  return layer;
}

void LayerPool::give_back(TripleLayer layer) {
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
