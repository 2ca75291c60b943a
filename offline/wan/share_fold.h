// Right triples without leakage from a set of leaky ones: the layers of the set are combined, on
// MAC shares (doc/protocol.md, section 18.2). The step is that of offline/triples/auth_triple: d_k
// = y_0 ^ y_k opened; x = sum of x_k, y = y_0, z = z_0 ^ sum of (z_k ^ d_k.x_k).
#pragma once

#include <queue>
#include <vector>

#include "offline/wan/triple_shares.h"

namespace tinyot::offline {

// Role: both, symmetric. Each step is called for all chunks of layer 0 in order. The d's are on the
// MAC transcripts; settle these before the triples are used.
class ShareFold {
 public:
  // Layer k is objects k.l .. (k + 1).l - 1 of the set. `shifts` as in LayerFold.
  ShareFold(checks::Session& session, std::span<TripleShares> set, std::vector<std::size_t> shifts);

  // Wire: sends (layers - 1) count / 8 bytes.
  void reveal(const ObjectChunk& chunk);
  // Wire: receives the same number of bytes. Layer 0 becomes x, y and z of the combined triples.
  void fold(const ObjectChunk& chunk);

 private:
  const TripleShares& partner(std::size_t layer, std::size_t i) const;

  checks::Session& session_;
  std::span<TripleShares> set_;
  std::vector<std::size_t> shifts_;
  std::size_t size_;                // l
  std::queue<BitVector> revealed_;  // of chunks whose peer's shares have not arrived
};

// Role: both, symmetric. Tosses the coins for orders and shifts, compares set 0 with the others and
// combines its layers, as many as there are sets; a step follows the one before it `ahead` chunks
// later. All G and d of all sets have been sent and received.
// Shapes: set 0: a multiple of sets.size(), the others: as in Sacrifice.
// Wire: a coin toss; as Sacrifice and ShareFold.  Fails: PeerCheated("coin toss", "opened triple").
TripleSet combine_sets(checks::Session& session, std::vector<TripleSet> sets, std::size_t ahead);

}  // namespace tinyot::offline
