// Triples [x], [y], [z = xy] of which nothing has leaked, from layers of leaky ones (PROTOCOL
// sections 7 and 10; the combining step is that of aAND, on full shares): d_k = y_0 ^ y_k revealed
// by both; x = sum of x_k, y = y_0, z = z_0 ^ sum of (z_k ^ d_k.x_k).
//
// Layer 0 is kept as it is; layer k is shifted cyclically (offline/layer_shifts) and folded into
// it.
#pragma once

#include <queue>
#include <vector>

#include "checks/session.h"
#include "offline/leaky_triple.h"

namespace tinyot::offline {

// Equally many shared bits.
struct SharedBits {
  SharedBits() = default;
  explicit SharedBits(std::size_t size) : mine(size), peers(size) {}
  std::size_t size() const { return peers.size(); }
  SharedView view() { return {mine.view(), peers.view()}; }

  AuthBitsMine mine;
  AuthBitsPeers peers;
};

// One layer of leaky triples.
struct TripleLayer {
  SharedBits x, y;
  SharedBits z;  // before the product bits are announced: r
};

// Role: both, symmetric. Called for all chunks of a layer in order. The d's are on the MAC
// transcripts, to be settled before anything is used.
class LayerFold {
 public:
  // Shapes: shifts: one for each layer but the first: triple i of it meets triple 0 of layer 0.
  LayerFold(checks::Session& session, std::span<TripleLayer> layers,
            std::vector<std::size_t> shifts);

  // Wire: sends (layers - 1) count / 8 bytes.
  void reveal(const ObjectChunk& chunk);
  // Wire: receives as much. Layer 0 becomes x, y and z of the combined triples.
  void fold(const ObjectChunk& chunk);

 private:
  checks::Session& session_;
  std::span<TripleLayer> layers_;
  std::vector<std::size_t> shifts_;
  // My shares of the d's of each layer, of chunks that wait for the peer's.
  std::queue<std::vector<BitVector>> revealed_;
};

}  // namespace tinyot::offline
