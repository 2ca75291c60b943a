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

#include "offline/triples/leaky_triple.h"

namespace tinyot::offline {

// Role: both, symmetric. Each step is called for all chunks in order, as those of LeakyTriples.
class BitProducts {
 public:
  explicit BitProducts(checks::Session& session) : session_(session) {}

  // Step 1. `set` separates the hash keys of a session's sets, the same on both sides; no chunk of
  // a set is offered twice.
  // Shapes: x, y: chunk.count, at most kChunkObjects.  Wire: sends count / 8 bytes.
  void offer(std::uint64_t set, const ObjectChunk& chunk, const SharedView& x, const SharedView& y);
  // Step 2, and the first half of step 3: my r becomes my z.  Wire: receives count / 8 bytes, sends
  // count / 8.
  void announce(const SharedView& x, const SharedView& r);
  // The second half of step 3.  Wire: receives count / 8 bytes.
  void finish(const SharedView& z);

 private:
  checks::Session& session_;
  std::queue<BitVector> offered_;  // step 2 without G, of chunks whose G has not arrived
};

}  // namespace tinyot::offline
