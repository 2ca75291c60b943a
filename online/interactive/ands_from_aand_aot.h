// ANDs of shared bits from aANDs, aOTs and aBits, a whole layer at a time (NNOB12 Fig. 6, "AND";
// doc/protocol.md, section 9).
//
// For each AND and as party P with peer Q, from [u],[v],[w] (P's aAND), [u0],[u1],[c],[w'] (aOTs, P
// sends in one and chooses in the other) and [r] (P's aBit):
//   f = u ^ x_P, g = v ^ y_P               then [x_P y_P] = f.[y_P] ^ g.[x_P] ^ [w] ^ fg
//   d = c ^ y_P   (P chooses)              with the peer's h = u0 ^ u1 ^ x_Q, e = r_Q ^ u0 ^ d.x_Q:
//                                               [s_P] = [w'] ^ h.[c] ^ e,  s_P = r_Q ^ x_Q y_P
//   z_P = r_P ^ s_P ^ x_P y_P
// All of f, g, d, h, e are revealed, that is, authenticated by the MAC transcript. The first flight
// of a layer carries f, g, d, h; the second carries e, which depends on the peer's d. 5 bits from
// each party, 10 in total, two rounds.
#pragma once

#include "online/interactive/and_layer.h"

namespace tinyot::online {

// Role: both, symmetric.
// Wire: 2 flights each way, of 4n / 8 and n / 8 bytes for n = x.size(), in messages of
// WindowedExchange::kEntries entries; 2 rounds. Fails: OutOfMaterial; wrong bits are detected when
// the transcript is settled.
std::unique_ptr<AndLayer> begin_pair_layer(checks::Session& session, MaterialReader& material,
                                           const BitVector& x, const BitVector& y);

}  // namespace tinyot::online
