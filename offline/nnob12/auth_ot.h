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
  AuthOtSender(const Buckets& buckets, MacColumnView x0, MacColumnView x1, KeyColumnView c,
               KeyColumnView z)
      : buckets_(buckets), x0_(x0), x1_(x1), c_(c), z_(z) {}

  // Reveals every d and absorbs their MACs into the transcript.  Wire: sends (B - 1) l / 8 bytes.
  void reveal(checks::Session& session);
  void fold_into(const BucketRange& range, MacColumn& x0, MacColumn& x1, KeyColumn& c,
                 KeyColumn& z) const;

 private:
  const Buckets& buckets_;
  MacColumnView x0_, x1_;
  KeyColumnView c_, z_;
  BitVector d_;
};

// Role: receiver: key holder of x0, x1, MAC holder of c, z.
class AuthOtReceiver {
 public:
  AuthOtReceiver(const Buckets& buckets, KeyColumnView x0, KeyColumnView x1, MacColumnView c,
                 MacColumnView z)
      : buckets_(buckets), x0_(x0), x1_(x1), c_(c), z_(z) {}

  // Receives every d. They are checked when the transcript is settled.
  void receive(checks::Session& session);
  void fold_into(const BucketRange& range, KeyColumn& x0, KeyColumn& x1, MacColumn& c,
                 MacColumn& z) const;

 private:
  const Buckets& buckets_;
  KeyColumnView x0_, x1_;
  MacColumnView c_, z_;
  BitVector d_;
};

}  // namespace tinyot::offline
