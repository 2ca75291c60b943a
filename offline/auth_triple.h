// Triples [x], [y], [z = xy] of which nothing has leaked, from layers of leaky ones (PROTOCOL sections 7 and 10; the combining step
// is that of aAND, on full shares): d = y1 ^ y2 revealed by both; x = x1 ^ x2, y = y1, z = z1 ^ z2 ^ d.x2.
//
// Layers instead of a permutation: layer 0 is kept, and layer k, shifted cyclically by r_k, is folded into it, triple j of layer 0 with
// triple j + r_k of layer k. r_k is tossed jointly after the EQ of layer k, uniform among all shifts.
#pragma once

#include <cstdint>

#include "checks/session.h"
#include "offline/leaky_triple.h"

namespace tinyot {

// Equally many shared bits.
struct SharedBits {
  SharedBits() = default;
  explicit SharedBits(std::size_t size) : mine(size), peers(size) {}
  SharedView view() { return {mine.view(), peers.view()}; }

  AuthBitsMine mine;
  AuthBitsPeers peers;
};

// One layer of triples; leaky, but for layer 0 once all others are folded into it.
struct TripleLayer {
  TripleLayer() = default;
  explicit TripleLayer(std::size_t size) : x(size), y(size), z(size) {}

  SharedBits x, y, z;
};

// Role: both, symmetric. Tosses the shift of layer `number`, whose EQ has passed.  Wire: as toss_coins.
std::size_t toss_shift(Session& session, std::size_t number, std::size_t count);

// Role: both, symmetric. Folds the first `count` triples of `layer`, shifted, into those of `into`. The d's are on the MAC transcripts,
// to be settled before anything is used.
// Wire: sends count / 8 bytes.
void fold_layer(Session& session, std::size_t shift, std::size_t count, TripleLayer& layer, TripleLayer& into);

}  // namespace tinyot
