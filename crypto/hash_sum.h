// The sum of H(i, x_i) over a sequence of blocks: what two parties compare to learn whether they hold the same sequence, where a cheater
// cannot choose what the honest one holds.
//
// It is no collision-resistant hash: whoever knows a whole sequence finds others of the same sum. It need not be. The honest party's
// sum is fixed by what that party holds, and the cheater must foretell it. If an entry of it differs from what the cheater can
// compute by a multiple of the honest party's global key, then H(i, x_i) of that entry is pseudorandom to the cheater (H is
// correlation robust under that key, and no tweak is used twice), and so is the sum: it is met with probability 2^-128, as a guess of
// the key.
#pragma once

#include <optional>
#include <span>

#include "crypto/tweak_hash.h"

namespace tinyot {

class HashSum {
 public:
  // Several sums of a session differ in `domain`, in more than the low 32 bits of its counter, which count the keys of H.
  HashSum(const SessionId& session, const Domain& domain, HashUse use) : session_(session), domain_(domain), use_(use) {}

  void absorb(std::span<const Block> blocks);

  // The sum since the last call. Positions go on.
  Block take();

 private:
  SessionId session_;
  Domain domain_;
  HashUse use_;
  std::optional<TweakHash> hash_;
  std::uint64_t position_ = 0;  // under the present key
  Block sum_{0, 0};
};

}  // namespace tinyot
