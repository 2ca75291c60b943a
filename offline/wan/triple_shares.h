// Triples as MAC shares only: 48 bytes that stand together, since a permutation reaches each at a
// random address. A party's share of a bit is lsb(m_P), as lsb(Delta^A ^ Delta^B) = 1.
#pragma once

#include "offline/triples/leaky_triple.h"

namespace tinyot::offline {

struct TripleShares {
  MacShare x, y, z;

  friend TripleShares operator^(const TripleShares& a, const TripleShares& b) {
    return {a.x ^ b.x, a.y ^ b.y, a.z ^ b.z};
  }
};

using TripleSet = SecretVector<TripleShares>;

inline bool share_of_bit(MacShare share) { return (share.value.lo & 1) != 0; }

// Shapes: x, y, z: to.size().
void share_triples(const SharedView& x, const SharedView& y, const SharedView& z, Delta global_key,
                   std::span<TripleShares> to);

}  // namespace tinyot::offline
