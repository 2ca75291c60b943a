// aOT: authenticated OTs without leakage, from buckets of leaky ones (NNOB12 Fig. 16;
// doc/protocol.md, section 7):
//   d = x0^1 ^ x1^1 ^ x0^2 ^ x1^2 revealed by the sender;
//   c = c1 ^ c2, z = z1 ^ z2 ^ d.c1, x0 = x0^1 ^ x0^2, x1 = x0^1 ^ x1^2.
//
// After a fold x0 ^ x1 is that of the object folded in last, so the d of position k is (x0 ^ x1) of
// position k - 1 plus that of position k: all d's of a bucket are known from the start and are
// revealed in one message.
#pragma once

#include "base/auth_bits.h"
#include "checks/opening.h"
#include "offline/nnob12/buckets.h"

namespace tinyot::offline {

// Role: sender: MAC holder of x0, x1, key holder of c, z.
class AuthOtSender {
 public:
  AuthOtSender(const Buckets& buckets, MineView x0, MineView x1, PeersView c, PeersView z)
      : buckets_(buckets), x0_(x0), x1_(x1), c_(c), z_(z) {}

  // Reveals every d and absorbs their MACs into the transcript.  Wire: sends (B - 1) l / 8 bytes.
  void reveal(checks::Session& session);
  void fold_into(const BucketRange& range, AuthBitsMine& x0, AuthBitsMine& x1, AuthBitsPeers& c,
                 AuthBitsPeers& z) const;

 private:
  const Buckets& buckets_;
  MineView x0_, x1_;
  PeersView c_, z_;
  BitVector d_;
};

// Role: receiver: key holder of x0, x1, MAC holder of c, z.
class AuthOtReceiver {
 public:
  AuthOtReceiver(const Buckets& buckets, PeersView x0, PeersView x1, MineView c, MineView z)
      : buckets_(buckets), x0_(x0), x1_(x1), c_(c), z_(z) {}

  // Receives every d. They are checked when the transcript is settled.
  void receive(checks::Session& session);
  void fold_into(const BucketRange& range, AuthBitsPeers& x0, AuthBitsPeers& x1, AuthBitsMine& c,
                 AuthBitsMine& z) const;

 private:
  const Buckets& buckets_;
  PeersView x0_, x1_;
  MineView c_, z_;
  BitVector d_;
};

}  // namespace tinyot::offline
