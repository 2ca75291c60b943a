// Which leaky triple of layer k meets which of layer 0: the order in which a layer is folded (PROTOCOL sections 7 and 10). Both parties
// derive it from coins that they have tossed jointly when the layers are fixed. A layer is walked once, segment after segment, so
// that nothing is gathered from far apart.
//
//   Each leaky triple is checked: the layer is shifted cyclically by r, uniform in [0, l). An attack on t_k triples of each layer k
//   survives with 2^-(t_0 + ... + t_(B-1)) and has l^(1-B).t_0 ... t_(B-1) fully attacked buckets at most in expectation: worst is one a
//   layer, 2^-B.l^(1-B).
//
//   The check is deferred. Differs: PROTOCOL section 10 gives 2^-1.l^(1-B) for cyclic shifts, but they do not reach it, since what is
//   attacked in a bucket costs one coin together: triples side by side stay side by side under a shift. Two neighbours in each of three
//   layers own a bucket with l^-2, twice as much; three of a coset of four, where 4 divides l, with 17/16 l^-2. So the layer is shifted by
//   whole segments, uniformly, and in each segment the triples are permuted, uniformly and independently. Then one aligned bucket says next
//   to nothing about the others: layers_bound_bits has the bound, doc/fast_profile.md the argument.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bit_vector.h"
#include "base/parameters.h"
#include "checks/session.h"

namespace tinyot {

// kSegmentTriples triples of a layer: those from `first` on, cyclically; or in another order, permuted among each other.
struct LayerSegment {
  std::size_t first;
  bool permuted;
  std::array<std::uint8_t, kSegmentTriples> order;

  // The words or bits of a column in this order. What lies side by side is not copied: then the result points into the column.
  template <class Word>
  const Word* words_of(std::span<const Word> column, std::span<Word, kSegmentTriples> buffer) const {
    const std::size_t ahead = column.size() - first;
    if (!permuted && ahead >= kSegmentTriples) return column.data() + first;
    for (std::size_t i = 0; i < kSegmentTriples; ++i) buffer[i] = permuted ? column[first + order[i]] : column[i < ahead ? first + i : i - ahead];
    return buffer.data();
  }
  void bits_of(const BitVector& column, std::span<std::uint64_t, kSegmentTriples / 64> bits) const;
};

class LayerOrder {
 public:
  // Shapes: size: a multiple of kSegmentTriples.
  LayerOrder(std::size_t size, TripleCheck check, Rng coins);

  // The segments of the order, one after the other.
  LayerSegment next();

 private:
  std::size_t size_;
  TripleCheck check_;
  Rng coins_;
  std::size_t next_;
};

// Role: both, symmetric. The orders of layers 1, 2, ..., B - 1.  Wire: as toss_coins.
std::vector<LayerOrder> toss_orders(Session& session, std::size_t layers, std::size_t size, TripleCheck check);

}  // namespace tinyot
