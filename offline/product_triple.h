// Triples [a], [b], [c = ab] from aANDs, aOTs and aBits: the AND of NNOB12 Fig. 6, run offline on
// random bits (PROTOCOL section 9).
//
// As party P with peer Q, from [u],[v],[w = uv] (P's aAND), [u0],[u1],[c],[s = u_c] (aOTs, P sends
// in one and chooses in the other), [r]: a_P = u and b_P = v, so that the figure's f and g are 0,
// and
//   d = c ^ v   (P chooses)    h = u0 ^ u1 ^ u and, with the peer's d, e = r ^ u0 ^ d.u   (P sends)
//   all revealed c_P = r ^ w ^ s ^ h.c ^ e  with the peer's h and e: [a_Q b_P ^ r_Q] = [s] ^ h.[c]
//   ^ e
// 3 bits of each party, two rounds; chunks of triples overlap. The combiner bits of the buckets may
// still be unsettled: no input is near, every mask is a random bit of its own, and a settlement
// that fails drops all of it.
#pragma once

#include <queue>

#include "base/material.h"
#include "checks/session.h"

namespace tinyot::offline {

// What triples are made of, by what it is to me; all of one size.
struct ProductMaterial {
  MaterialBatch my_and, peers_and, sent, chosen, my_bit, peers_bit;
};

// Role: both, symmetric. Each step is called for all chunks in order; the revealed bits are on the
// MAC transcripts, to be settled before anything is used.
class ProductTriples {
 public:
  explicit ProductTriples(checks::Session& session) : session_(session) {}

  // Wire: sends 2 count / 8 bytes.
  void reveal_first(ProductMaterial material);
  // Wire: receives as much, sends count / 8.
  void reveal_second();
  // Wire: receives as much. The chunk's triples.
  MaterialBatch finish();

 private:
  struct Chunk {
    ProductMaterial material;
    BitVector d, h, e;  // mine
    BitVector peers_d, peers_h;
  };

  checks::Session& session_;
  std::queue<Chunk> first_, second_;  // chunks that have taken this step
};

}  // namespace tinyot::offline
