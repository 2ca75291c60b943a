// Triples [x], [y], [z = xy] of which nothing has leaked, from layers of leaky ones (PROTOCOL sections 7 and 10; the combining step
// is that of aAND, on full shares): d_k = y_0 ^ y_k revealed by both; x = sum of x_k, y = y_0, z = z_0 ^ sum of (z_k ^ d_k.x_k).
//
// Layer 0 is kept as it is, and layer k, in an order of its own (offline/layer_order), is folded into it. The orders are tossed when all
// layers are fixed: after their EQ; if the check is deferred, after all their G.
//
// With the deferred check a layer has its S_P instead of z: S = S_0 ^ sum of (S_k ^ d_k.m(x_k)), where
// m_P(x) = x_P.Delta^P ^ M[x_P] ^ K[x'] are shares of x.(Delta_A ^ Delta_B); then S_A ^ S_B = xy.(Delta_A ^ Delta_B).
#pragma once

#include <queue>
#include <vector>

#include "checks/session.h"
#include "offline/layer_order.h"
#include "offline/leaky_triple.h"

namespace tinyot {

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
  SharedBits z;           // before the product bits are announced: r
  SecretVector<Block> s;  // where the check is deferred: S_P
};

// Role: both, symmetric. Called for all chunks of a layer in order; chunks are multiples of kSegmentTriples. The d's are on the MAC
// transcripts, to be settled before anything is used.
class LayerFold {
 public:
  // Shapes: orders: one for each layer but the first.
  LayerFold(Session& session, std::span<TripleLayer> layers, std::vector<LayerOrder> orders);

  // Wire: sends (layers - 1) count / 8 bytes.
  void reveal(const ObjectChunk& chunk);
  // Wire: receives as much. Layer 0 becomes x, y and z of the combined triples.
  void fold(const ObjectChunk& chunk);
  // The same where the check is deferred: layer 0 becomes x, y and S_P.
  void fold_strings(const ObjectChunk& chunk);

 private:
  // What of one layer meets a chunk, and the d's: my shares at first.
  struct Meeting {
    std::vector<LayerSegment> segments;
    BitVector d;
  };
  // Receives the peer's shares of the d's.
  std::vector<Meeting> open(const ObjectChunk& chunk);

  Session& session_;
  std::span<TripleLayer> layers_;
  std::vector<LayerOrder> orders_;
  std::queue<std::vector<Meeting>> revealed_;  // of chunks that wait for the peer's shares
};

}  // namespace tinyot
