// A layer of ANDs over all lanes, for either form of material. An entry is one AND in one lane. The
// bits are computed first, with the messages; their MACs and keys are computed later, while
// messages are in flight.
#pragma once

#include <array>
#include <memory>

#include "base/bit_vector.h"
#include "checks/session.h"
#include "online/material_reader.h"
#include "tinyot/parameters.h"

namespace tinyot::online {

// Blocks of some entries, plane by plane (online/wires.h).
struct ShareBlocks {
  std::array<Block*, 2> plane;
};

class AndLayer {
 public:
  virtual ~AndLayer() = default;

  // Receives the peer's openings and returns my shares of the products. Called once.
  virtual BitVector open() = 0;

  // Computes the blocks of the products of the next `count` entries and absorbs their openings into
  // the transcript. Called after open, in order, until all entries are processed.
  virtual void combine(std::size_t count, const ShareBlocks& x, const ShareBlocks& y,
                       const ShareBlocks& z) = 0;
};

// Role: both, symmetric. Takes the material and sends the openings that depend on no message of the
// peer. Shapes: x, y: my shares, n bits. Wire, Fails: as begin_pair_layer or begin_triple_layer.
std::unique_ptr<AndLayer> begin_and_layer(checks::Session& session, MaterialReader& material,
                                          AndMaterial form, const BitVector& x, const BitVector& y);

}  // namespace tinyot::online
