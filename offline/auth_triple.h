// Triples [x], [y], [z = xy] of which nothing has leaked, from layers of leaky ones (PROTOCOL sections 7 and 10; the combining step
// is that of aAND, on full shares): d_k = y_0 ^ y_k revealed by both; x = sum of x_k, y = y_0, z = z_0 ^ sum of (z_k ^ d_k.x_k).
//
// Layers instead of a permutation: layer 0 is kept, and layer k, shifted cyclically by r_k, is folded into it, triple j of layer 0
// with triple j + r_k of layer k. The r_k are tossed jointly when all layers are fixed: after their EQ; if the check is deferred,
// after all their G.
//
// With the deferred check a layer has its S_P instead of z: S = S_0 ^ sum of (S_k ^ d_k.m(x_k)), where
// m_P(x) = x_P.Delta^P ^ M[x_P] ^ K[x'] are shares of x.(Delta_A ^ Delta_B); then S_A ^ S_B = xy.(Delta_A ^ Delta_B).
#pragma once

#include <queue>
#include <vector>

#include "checks/session.h"
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

// Role: both, symmetric. Tosses r_1, r_2, ... for layers of `size` triples; r_0 = 0.  Wire: as toss_coins.
std::vector<std::size_t> toss_shifts(Session& session, std::size_t layers, std::size_t size);

// Role: both, symmetric. Called for all chunks of a layer in order; a chunk has a multiple of 64 triples. The d's are on the MAC
// transcripts, to be settled before anything is used.
class LayerFold {
 public:
  LayerFold(Session& session, std::span<TripleLayer> layers, std::vector<std::size_t> shifts);

  // Wire: sends (layers - 1) count / 8 bytes.
  void reveal(const ObjectChunk& chunk);
  // Wire: receives as much. Layer 0 becomes x, y and z of the combined triples.
  void fold(const ObjectChunk& chunk);
  // The same where the check is deferred: layer 0 becomes x, y and S_P.
  void fold_strings(const ObjectChunk& chunk);

 private:
  // Receives the peer's shares and returns the d's.
  std::vector<BitVector> open(const ObjectChunk& chunk);

  Session& session_;
  std::span<TripleLayer> layers_;
  std::vector<std::size_t> shifts_;
  std::queue<std::vector<BitVector>> revealed_;  // my shares of the d's of chunks that wait for the peer's
};

}  // namespace tinyot
