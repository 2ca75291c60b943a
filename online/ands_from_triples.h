// ANDs of shared bits from triples [a], [b], [c = ab], a whole layer at a time (Beaver, CRYPTO 1991; PROTOCOL section 9):
//
//   d = x ^ a and e = y ^ b are revealed, both shares of each; then [z] = [c] ^ e.[a] ^ d.[b] ^ de.
//
// Two bits of each party, 4 in all, one round. The constant de is added to A's share.
#pragma once

#include "base/material.h"
#include "checks/session.h"
#include "online/operand.h"

namespace tinyot {

// Role: both, symmetric. The ANDs of x and y, entry by entry.
// Wire: 1 message each way of 2n / 8 bytes for n = x.size(); 1 round.
// Fails: OutOfMaterial; wrong bits are found when the transcript is settled.
Operand ands_from_triples(Session& session, MaterialSource& source, Operand x, Operand y);

}  // namespace tinyot
