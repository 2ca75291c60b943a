// Pipelining: how far steps and units run ahead of each other, so that a link with a long
// round-trip time is never idle.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace tinyot::offline {

// What one piece costs, where pieces of a protocol are made one after the other.
struct StageCost {
  std::chrono::nanoseconds time;  // that a piece takes at least, on a fast machine and link
  std::size_t bytes;              // of its messages, or what is held for it until it is finished
  std::size_t depth;              // pieces by which a step follows the one before it, at least
};

// For a link on which a message takes `latency`. The default is for links without. The order of the
// messages depends on it, so both parties compute it from the same numbers.
class PipelineDepth {
 public:
  // Sent and not yet answered, of one worker.
  static constexpr std::size_t kWindowBytes = std::size_t{8} << 20;

  PipelineDepth() = default;
  explicit PipelineDepth(std::chrono::nanoseconds latency) : latency_(latency) {}

  std::chrono::nanoseconds latency() const { return latency_; }
  // Pieces by which a step follows the one before it: as many as are made while a message is on its
  // way, within kWindowBytes.
  std::size_t depth(const StageCost& piece) const {
    const auto in_flight = static_cast<std::size_t>(latency_ / piece.time);
    return std::max(piece.depth, std::min(piece.depth + in_flight,
                                          kWindowBytes / std::max<std::size_t>(piece.bytes, 1)));
  }

 private:
  std::chrono::nanoseconds latency_{0};
};

// Calls step s for each piece, in order, `ahead` pieces after step s - 1, so the message that it
// reads is already in flight. Within one time slot the steps are called in order, so both parties
// send and receive in the same order.
template <class Piece, class... Steps>
void run_pipeline(const std::vector<Piece>& pieces, std::size_t ahead, Steps... steps) {
  for (std::size_t time = 0; time < pieces.size() + ahead * (sizeof...(steps) - 1); ++time) {
    std::size_t behind = 0;
    const auto call = [&](auto& step) {
      if (time >= behind && time - behind < pieces.size()) step(pieces[time - behind]);
      behind += ahead;
    };
    (call(steps), ...);
  }
}

}  // namespace tinyot::offline
