// LaAND: leaky authenticated local ANDs [x]_A, [y]_A, [z]_A with z = xy, of which x may leak to the
// key holder. Source: NNOB12 section 3 and full version; doc/protocol.md, section 6.
//
// The third bit [r] becomes [z] = [r] ^ d in place: the MAC holder changes its bit, the key holder
// its key.
//
// Both hashes of U have the tweak of their object. Then V = H(M_x, M_z ^ x.M_y) ^ x.U in one call
// and without a branch: for x = 0 it is H(M_x, M_z), for x = 1 it is U ^ H(M_x, M_y ^ M_z).
#pragma once

#include "base/auth_bits.h"
#include "checks/session.h"
#include "crypto/random_oracle.h"
#include "offline/nnob12/object_chunks.h"

namespace tinyot::offline {

// Role: MAC holder, the owner of the bits.
class LeakyAndMacHolder {
 public:
  // Shapes: x, y, r of equal length. A session makes one such batch in each direction.
  LeakyAndMacHolder(checks::Session& session, MacColumnView x, MacColumnView y, MacColumnView r);

  // Step 1: announces d = xy ^ r and turns r into z.  Wire: sends count / 8 bytes.
  void announce(const ObjectChunk& chunk);
  // Steps 2 and 3: receives U, digests V.  Wire: receives 16 count bytes.
  void receive_u(const ObjectChunk& chunk);
  // Step 4: for EQ.
  crypto::Digest check_digest() { return digest_.digest(); }

 private:
  checks::Session& session_;
  MacColumnView x_, y_, z_;
  crypto::RandomOracle digest_;
};

// Role: key holder.
class LeakyAndKeyHolder {
 public:
  LeakyAndKeyHolder(checks::Session& session, KeyColumnView x, KeyColumnView y, KeyColumnView r);

  // Steps 1 and 2: receives d, turns r into z, sends U, digests H(K_x, K_z).
  void answer(const ObjectChunk& chunk);
  // Step 4: for EQ.
  crypto::Digest check_digest() { return digest_.digest(); }

 private:
  checks::Session& session_;
  KeyColumnView x_, y_, z_;
  crypto::RandomOracle digest_;
};

}  // namespace tinyot::offline
