// The memory layout of lanes: tiles of up to kTileLanes, so that, tile by tile, the working set of
// a round fits in the cache.
#pragma once

#include <algorithm>
#include <cstddef>

namespace tinyot::online {

class Lanes {
 public:
  static constexpr std::size_t kTileLanes = 64;

  explicit Lanes(std::size_t count)
      : count_(count), tiles_((count + kTileLanes - 1) / kTileLanes) {}

  std::size_t count() const { return count_; }
  std::size_t tiles() const { return tiles_; }
  std::size_t first(std::size_t tile) const { return tile * kTileLanes; }
  std::size_t width(std::size_t tile) const { return std::min(kTileLanes, count_ - first(tile)); }

 private:
  std::size_t count_;
  std::size_t tiles_;
};

}  // namespace tinyot::online
