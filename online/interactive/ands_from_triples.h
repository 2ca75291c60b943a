// ANDs of shared bits from triples a, b, c = ab, a whole layer at a time (Beaver, CRYPTO 1991;
// doc/protocol.md, section 9):
//
//   d = x ^ a and e = y ^ b are opened; then z = c ^ e.a ^ d.b ^ de.
//
// 2 bits from each party, 4 in total, one round. The constant de is added to A's share.
//
// Differs: for a bit x = x_A ^ x_B a party holds, instead of a MAC and a key, their sum with
// x_P.Delta^P: a share of x.(Delta^A ^ Delta^B) (base/block.h). The formulas above are linear in
// these shares; this takes half the memory and half the hashes. Openings are checked as in
// checks/mac_transcript.h.
#pragma once

#include "online/interactive/and_layer.h"

namespace tinyot::online {

// Role: both, symmetric.
// Wire: 1 flight each way of 2n / 8 bytes for n = x.size(), in messages of
// WindowedExchange::kEntries entries; 1 round. Fails: OutOfMaterial; wrong bits are detected when
// the transcript is settled.
std::unique_ptr<AndLayer> begin_triple_layer(checks::Session& session, MaterialReader& material,
                                             const BitVector& x, const BitVector& y);

}  // namespace tinyot::online
