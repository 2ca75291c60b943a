// Right triples without leakage from a set of leaky ones: the layers of the set are combined, on
// MAC shares (doc/protocol.md, section 18.2). The step is that of offline/triples/auth_triple: d_k
// = y_0 ^ y_k opened; x = sum of x_k, y = y_0, z = z_0 ^ sum of (z_k ^ d_k.x_k).
#pragma once

#include <queue>
#include <vector>

#include "crypto/public_coins.h"
#include "offline/triples/auth_triple.h"
#include "offline/unit/steps.h"
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
  // Returns d_1, d_2, ... of the chunk, as opened.
  BitVector fold(const ObjectChunk& chunk);

  const std::vector<std::size_t>& shifts() const { return shifts_; }

 private:
  const TripleShares& partner(std::size_t layer, std::size_t i) const;

  checks::Session& session_;
  std::span<TripleShares> set_;
  std::vector<std::size_t> shifts_;
  std::size_t size_;                // l
  std::queue<BitVector> revealed_;  // of chunks whose peer's shares have not arrived
};

// Role: both, symmetric. Compares set 0 with the others and combines its layers, as many as there
// are sets: its first objects become the triples. All G and d of all sets had been sent and
// received before the coins were tossed. `full`: the layers of set 0 with MACs and keys apart,
// which are combined in the same way, their y only in layer 0; or empty. Shapes: set 0: a multiple
// of sets.size(), the others: as in Sacrifice. Wire: as Sacrifice and ShareFold.  Fails:
// PeerCheated("opened triple").
void combine_sets(checks::Session& session, std::span<TripleSet> sets,
                  const crypto::PublicSeed& coins, PipelineDepth depth,
                  std::span<TripleLayer> full = {});

}  // namespace tinyot::offline
