// Triples [a], [b], [c = ab] from aANDs, aOTs and aBits: the AND of NNOB12 Fig. 6, run offline on
// random bits (doc/protocol.md, section 9).
//
// As party P with peer Q, from [u],[v],[w = uv] (P's aAND), [u0],[u1],[c],[s = u_c] (aOTs, P sends
// in one and chooses in the other), [r]: a_P = u and b_P = v, so that the figure's f and g are 0,
// and
//   d = c ^ v                        revealed by P as chooser
//   h = u0 ^ u1 ^ u                  revealed by P as sender
//   e = r ^ u0 ^ d.u                 revealed by P as sender, with the peer's d
//   c_P = r ^ w ^ s ^ h.c ^ e        with the peer's h and e: [a_Q b_P ^ r_Q] = [s] ^ h.[c] ^ e
// Each party reveals 3 bits per triple in two rounds; chunks of triples overlap. The combiner bits
// of the buckets may still be unsettled: no input is involved, every mask is a random bit used
// once, and a failed settlement discards the whole unit.
#pragma once

#include <queue>

#include "checks/session.h"
#include "material/material.h"
#include "tinyot/parameters.h"

namespace tinyot::offline {

// The material of the triples in this party's view; all batches have the same size.
struct ProductMaterial {
  material::Batch my_and, peers_and, sent, chosen, my_bit, peers_bit;
};

// Role: both, symmetric. Each step is called for all chunks in order; the revealed bits are on the
// MAC transcripts, to be settled before anything is used.
class ProductTriples {
 public:
  // `form`: Triples or Garbling, of which the triples are.
  ProductTriples(checks::Session& session, AndMaterial form) : session_(session), form_(form) {}

  // Wire: sends 2 count / 8 bytes.
  void reveal_first(ProductMaterial material);
  // Wire: receives the same number of bytes, sends count / 8.
  void reveal_second();
  // The chunk's triples.  Wire: receives count / 8 bytes.
  material::Batch finish();

 private:
  struct Chunk {
    ProductMaterial material;
    BitVector d, h, e;  // mine
    BitVector peers_d, peers_h;
  };

  checks::Session& session_;
  AndMaterial form_;
  std::queue<Chunk> first_, second_;  // chunks after this step
};

}  // namespace tinyot::offline
