// Memory for the layers of units in flight, reused from unit to unit: page faults on fresh memory
// take as long as the computation in it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "offline/triples/auth_triple.h"

namespace tinyot::offline {

// Of all layers of units that wait for messages.
inline constexpr std::uint64_t kWaitingLayersBytes = std::uint64_t{256} << 20;
std::uint64_t layer_bytes(std::size_t triples);

// All calls may come from any thread.
class LayerPool {
 public:
  // At most `units` units fill layers at a time, in the order of their numbers. There is room for
  // all their layers, and in addition, within kWaitingLayersBytes, for the layers of `waiting`
  // units that wait for messages, at least one for each.
  LayerPool(std::size_t units, std::size_t waiting,
            std::uint64_t waiting_bytes = kWaitingLayersBytes)
      : units_(units), waiting_(waiting), waiting_bytes_(waiting_bytes) {}

  // A layer of `size` triples, of a unit with `bucket` layers; its content is arbitrary. Blocks
  // until there is room. Fails: WorkerStopped.
  TripleLayer take(std::size_t size, std::size_t bucket);
  void release(TripleLayer layer);
  void stop() noexcept;

 private:
  std::size_t units_, waiting_;
  std::uint64_t waiting_bytes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t taken_ = 0, room_ = 0;
  std::vector<TripleLayer> spare_;
  bool stopped_ = false;
};

}  // namespace tinyot::offline
