// LaOT: leaky authenticated OTs [x0]_S, [x1]_S, [c]_R, [z]_R with z = x_c, of which c may leak to
// the sender. Source: NNOB12 Fig. 15; doc/protocol.md, section 6. The paper's A is the sender, its
// B the receiver.
//
// The receiver's second bit [r] becomes [z] = [r] ^ d in place. T_0 and T_1 are held until their
// chunk is finished; only their digest is kept. Each step is called for all chunks in order. The
// caller chooses how many chunks one step lags another, the same number on both sides.
#pragma once

#include <queue>

#include "base/auth_bits.h"
#include "checks/session.h"
#include "crypto/random_oracle.h"
#include "offline/nnob12/object_chunks.h"

namespace tinyot::offline {

// Role: sender: MAC holder of x0, x1, key holder of c, z.
class LeakyOtSender {
 public:
  // Shapes: all of equal length. A session makes one such batch in each direction.
  LeakyOtSender(checks::Session& session, MacColumnView x0, MacColumnView x1, KeyColumnView c,
                KeyColumnView r);

  // Steps 3 and 4: draws T_0, T_1, sends X_0, X_1.  Wire: sends 2 (count / 8 + 32 count) bytes.
  void send_x(const ObjectChunk& chunk);
  // Steps 6 and 7: receives d, turns r into z, sends I_0, I_1.  Wire: receives count / 8, sends 32
  // count bytes.
  void answer_d(const ObjectChunk& chunk);
  // Step 9: for EQ.
  crypto::Digest check_digest() { return digest_.digest(); }

 private:
  checks::Session& session_;
  MacColumnView x0_, x1_;
  KeyColumnView c_, z_;
  struct Transferred {
    SecretVector<Block> t0, t1;
  };
  std::queue<Transferred> under_way_;  // of the chunks whose d has not arrived
  crypto::RandomOracle digest_;
};

// Role: receiver: key holder of x0, x1, MAC holder of c, z.
class LeakyOtReceiver {
 public:
  LeakyOtReceiver(checks::Session& session, KeyColumnView x0, KeyColumnView x1, MacColumnView c,
                  MacColumnView r);

  // Steps 5 and 6: opens X_c, checks its MAC, announces d, turns r into z.
  // Fails: PeerCheated("LaOT MAC"), before d is sent.
  void open_x(const ObjectChunk& chunk);
  // Step 8: T_{1-z} = I_z ^ H(M_z); digests (T_0, T_1).
  void receive_i(const ObjectChunk& chunk);
  // Step 9: for EQ.
  crypto::Digest check_digest() { return digest_.digest(); }

 private:
  checks::Session& session_;
  KeyColumnView x0_, x1_;
  MacColumnView c_, z_;
  std::queue<SecretVector<Block>> opened_;  // T_{x_c} of the chunks whose I has not arrived
  crypto::RandomOracle digest_;
};

}  // namespace tinyot::offline
