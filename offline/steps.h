// Pipelining of protocol steps over many pieces, so that a step of a piece does not cost a separate
// round trip.
#pragma once

#include <cstddef>
#include <vector>

namespace tinyot::offline {

// Calls step s for each piece, in order, `ahead` pieces after step s - 1, so the message that it
// reads is already in flight. Within one time slot the steps are called in order, so both parties
// send and receive in the same order.
template <class Piece, class... Steps>
void in_steps(const std::vector<Piece>& pieces, std::size_t ahead, Steps... steps) {
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
