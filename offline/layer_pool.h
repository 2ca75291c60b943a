// Memory for the layers of units in flight, reused from unit to unit: page faults on fresh memory
// take as long as the computation in it.
#pragma once

#include <condition_variable>
#include <mutex>
#include <vector>

#include "offline/auth_triple.h"

namespace tinyot::offline {

// All calls may come from any thread.
class LayerPool {
 public:
  // At most `units` units fill layers at a time, in the order of their numbers. There is room for
  // all their layers, and for `more` layers of units that wait for messages.
  LayerPool(std::size_t units, std::size_t more) : units_(units), more_(more) {}

  // A layer of `size` triples, of a unit with `bucket` layers; its content is arbitrary. Blocks
  // until there is room. Fails: WorkerStopped.
  TripleLayer take(std::size_t size, std::size_t bucket);
  void give_back(TripleLayer layer);
  void stop() noexcept;

 private:
  std::size_t units_, more_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t taken_ = 0, bucket_ = 0;
  std::vector<TripleLayer> spare_;
  bool stopped_ = false;
};

}  // namespace tinyot::offline
