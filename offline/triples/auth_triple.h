// Triples [x], [y], [z = xy] without leakage, from layers of leaky ones (doc/protocol.md, sections
// 7.2 and 10.4; the combining step is that of aAND, on full shares): d_k = y_0 ^ y_k revealed by
// both; x = sum of x_k, y = y_0, z = z_0 ^ sum of (z_k ^ d_k.x_k).
//
// Layer 0 stays in place; layer k is shifted cyclically (offline/triples/layer_shifts) and folded
// into it.
#pragma once

#include <queue>
#include <vector>

#include "checks/session.h"
#include "offline/triples/leaky_triple.h"
#include "offline/unit/unit_maker.h"

namespace tinyot::offline {

// Shared bits, the same number of each party.
struct SharedColumn {
  SharedColumn() = default;
  explicit SharedColumn(std::size_t size) : mine(size), peers(size) {}
  std::size_t size() const { return peers.size(); }
  SharedView view() { return {mine.view(), peers.view()}; }

  MacColumn mine;
  KeyColumn peers;
};

// One layer of leaky triples.
struct TripleLayer {
  SharedColumn x, y;
  SharedColumn z;  // r until the product bits have been announced
};

// Pours the first `total` triples of a layer as full triples.
void pour_full_triples(material::Sink& sink, Party me, std::size_t total, const TripleLayer& layer);

// x_0 ^= x_k and z_0 ^= z_k ^ d_k.x_k for the triples of a chunk and their partners in layer k,
// with d_k as opened.
void fold_layer(TripleLayer& to, const TripleLayer& more, const BitVector& d,
                const ObjectChunk& chunk, std::size_t shift);

// Role: both, symmetric. Each step is called for all chunks of a layer in order. The d's are on the
// MAC transcripts; settle these before the triples are used.
class LayerFold {
 public:
  // Shapes: shifts: one for each layer except layer 0. With shift s, triple s of the layer is
  // combined with triple 0 of layer 0.
  LayerFold(checks::Session& session, std::span<TripleLayer> layers,
            std::vector<std::size_t> shifts);

  // Wire: sends (layers - 1) count / 8 bytes.
  void reveal(const ObjectChunk& chunk);
  // Wire: receives the same number of bytes. Layer 0 becomes x, y and z of the combined triples.
  void fold(const ObjectChunk& chunk);

 private:
  checks::Session& session_;
  std::span<TripleLayer> layers_;
  std::vector<std::size_t> shifts_;
  // My shares of the d's of each layer, for chunks whose peer's shares have not arrived.
  std::queue<std::vector<BitVector>> revealed_;
};

}  // namespace tinyot::offline
