// aAND: authenticated local ANDs without leakage, from buckets of leaky ones (NNOB12 full version;
// doc/protocol.md, section 7):
//   d = y1 ^ y2 revealed;  x = x1 ^ x2, y = y1, z = z1 ^ z2 ^ d.x2.
//
// y stays y1, so all d's of a bucket, y1 ^ y_k, are known from the start and are revealed in one
// message.
#pragma once

#include "base/auth_bits.h"
#include "checks/opening.h"
#include "offline/nnob12/buckets.h"

namespace tinyot::offline {

// Role: MAC holder, the owner of the bits.
class AuthAndMacHolder {
 public:
  AuthAndMacHolder(const Buckets& buckets, MacColumnView x, MacColumnView y, MacColumnView z)
      : buckets_(buckets), x_(x), y_(y), z_(z) {}

  // Reveals every d and absorbs their MACs into the transcript.  Wire: sends (B - 1) l / 8 bytes.
  void reveal(checks::Session& session);
  // Folds a range of buckets. Shapes: x, y, z of range.count.
  void fold_into(const BucketRange& range, MacColumn& x, MacColumn& y, MacColumn& z) const;

 private:
  const Buckets& buckets_;
  MacColumnView x_, y_, z_;
  BitVector d_;
};

// Role: key holder.
class AuthAndKeyHolder {
 public:
  AuthAndKeyHolder(const Buckets& buckets, KeyColumnView x, KeyColumnView y, KeyColumnView z)
      : buckets_(buckets), x_(x), y_(y), z_(z) {}

  // Receives every d. They are checked when the transcript is settled.
  void receive(checks::Session& session);
  void fold_into(const BucketRange& range, KeyColumn& x, KeyColumn& y, KeyColumn& z) const;

 private:
  const Buckets& buckets_;
  KeyColumnView x_, y_, z_;
  BitVector d_;
};

}  // namespace tinyot::offline
