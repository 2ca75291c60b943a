// WaBit: from LaBit's few bits with long MACs to many bits with a weak global key (NNOB12 Fig. 11;
// doc/protocol.md, section 5.2). The parties swap roles and read columns instead of rows, without
// communication or computation:
//
//   x_j     = bit j of Gamma_B           the LaBit sender becomes MAC holder
//   M'_j    = column j of the L_i        its keys become MACs
//   K'_j    = column j of the N_i        the LaBit receiver's MACs become keys
//   Gamma_A = (y_1, ..., y_tau)          its bits become the global key, a few of which may have
//                                        leaked to the MAC holder
//
// so that M'_j = K'_j ^ x_j.Gamma_A, strings of tau bits.
#pragma once

#include "offline/nnob12/leaky_bits.h"

namespace tinyot::offline {

// Column j is M'_j. Refers to the rows that it was made from.
struct WeakMacColumns {
  const BitMatrix& matrix;
};
// Column j is K'_j. Refers to the rows that it was made from.
struct WeakKeyColumns {
  const BitMatrix& matrix;
};
// Gamma_A.
struct WeakGlobalKey {
  const BitVector& bits;
};

inline WeakMacColumns flip_role(const LeakyKeyRows& rows) { return {rows.matrix}; }
inline WeakKeyColumns flip_role(const LeakyMacRows& rows) { return {rows.matrix}; }
inline WeakGlobalKey flip_role(const LeakyBitReceiver& receiver) {
  return {receiver.kept_choices()};
}

}  // namespace tinyot::offline
