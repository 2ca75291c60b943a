// A layer of ANDs over all lanes, entry by entry, by whatever kind of material there is. The bits come first, with the messages;
// what authenticates them is computed behind, when there is time for it.
#pragma once

#include <algorithm>
#include <array>
#include <memory>

#include "base/bit_vector.h"
#include "base/parameters.h"
#include "checks/session.h"
#include "online/material_reader.h"

namespace tinyot {

// Blocks of some entries, plane by plane (online/wires.h).
struct ShareBlocks {
  std::array<Block*, 2> plane;
};

class AndLayer {
 public:
  virtual ~AndLayer() = default;

  // Receives the peer's openings, once. My shares of the products.
  virtual BitVector open() = 0;

  // After open, and in order until all entries are through: the blocks of the products of the next `count` entries. Puts what was
  // opened on the transcript.
  virtual void combine(std::size_t count, const ShareBlocks& x, const ShareBlocks& y, const ShareBlocks& z) = 0;
};

// The entries of a large layer go in several messages, so that the peer has the first while the last are still to be masked: calls
// use(first, count) for each of them.
inline constexpr std::size_t kFlightEntries = std::size_t{1} << 16;
template <class Use>
void for_each_flight(std::size_t entries, Use use) {
  for (std::size_t first = 0; first < entries; first += kFlightEntries) use(first, std::min(kFlightEntries, entries - first));
}

// Role: both, symmetric. Takes the material, and sends the openings that need nothing of the peer. Shapes: x, y: my shares, n bits.
// Wire, Fails: as begin_pair_layer or begin_triple_layer.
std::unique_ptr<AndLayer> begin_and_layer(Session& session, MaterialReader& material, MaterialForm form, const BitVector& x, const BitVector& y);

}  // namespace tinyot
