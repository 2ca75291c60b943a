// Leaky AND triples whose products are exchanged as single bits: [x], [y], [z = xy], of which x may
// leak to either party and z may be wrong (HaAND of Wang, Ranellucci, Katz, CCS 2017;
// doc/protocol.md, section 18.1).
//
// As party P with the global key Delta^P, from random [x], [y], [r]; h is bit 0 of H, and Q the
// other party:
//   1. G_P = h(K[x_Q]) ^ h(K[x_Q] ^ Delta^P) ^ y_P, sent
//   2. z_P = x_P.y_P ^ h(M[x_P]) ^ x_P.G_Q ^ h(K[x_Q])           (z_A ^ z_B = xy)
//   3. d_P = z_P ^ r_P announced; [z] = [r] ^ d_A ^ d_B
//
// A deviation adds e to G_P and e' to d_P: then z = xy ^ e' ^ e.x_Q. So e' alone makes z wrong, and
// e is a guess of the honest x_Q, of either value. Nothing here detects it: offline/wan/sacrifice
// does. y does not leak, since h at the key that P lacks is a pseudorandom bit.
#pragma once

#include <queue>

#include "offline/wan/triple_shares.h"

namespace tinyot::offline {

// Role: both, symmetric. Each step is called for all chunks in order, as those of LeakyTriples.
// Between the steps only bits are kept, so the columns of a chunk are free when it has been
// offered.
class BitProducts {
 public:
  // d of both parties.
  struct Announced {
    BitVector mine, peers;
  };

  explicit BitProducts(checks::Session& session) : session_(session) {}

  // Step 1. `set` separates the hash keys of a session's sets, the same on both sides; no chunk of
  // a set is offered twice.
  // Shapes: x, y, r: chunk.count, at most kChunkObjects.  Wire: sends count / 8 bytes.
  void offer(std::uint64_t set, const ObjectChunk& chunk, const SharedView& x, const SharedView& y,
             const SharedView& r);
  // Step 2, and the first half of step 3.  Wire: receives count / 8 bytes, sends count / 8.
  void announce();
  // The second half of step 3.  Wire: receives count / 8 bytes.
  Announced finish();

 private:
  // Of a chunk whose G has not arrived: step 2 without G, and my bits.
  struct Offered {
    BitVector z, x, r;
  };

  checks::Session& session_;
  std::queue<Offered> offered_;
  std::queue<BitVector> announced_;  // my d, of chunks whose d has not arrived
};

// r becomes z, by what both parties have announced: of objects [first, first + r.size()) of the
// chunk, and of the whole chunk. Shapes: first: a multiple of 64.
void become_products(const SharedView& r, const BitProducts::Announced& announced,
                     std::size_t first, const Delta& global_key);
void become_products(std::span<TripleShares> triples, const BitProducts::Announced& announced,
                     const Delta& global_key);

}  // namespace tinyot::offline
