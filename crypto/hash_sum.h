// The sum of H(i, x_i) over a sequence of blocks. Two parties compare their sums to check that they
// hold the same sequence, where a cheater cannot choose the honest party's.
//
// The sum is not collision resistant: given a whole sequence, others with the same sum can be
// found. It need not be: the honest party's sum is fixed by what that party holds, and the cheater
// must predict it. There are three ways to deviate:
//
// By Delta. An entry differs from what the cheater can compute by a multiple of the honest party's
// global key. Then H(i, x_i) of that entry is pseudorandom to the cheater (H is correlation robust
// under that key, and no tweak is used twice), and so is the sum: the cheater matches it with
// probability 2^-128, as by guessing the key.
//
// By a chosen string. The cheater need not send the sum of what it holds: it may absorb anything.
// But a MAC holder that revealed wrong bits must match a sum with a term H(i, M_i ^ Delta) for
// each of them, at points that include the unknown Delta. Their tweaks differ, so no number of
// them cancels, and a string chosen without Delta matches with probability 2^-128.
//
// By selective failure. The cheater knows both candidates a_i and b_i of an entry, and a secret
// bit of the honest party selects one. The sum is then a known value plus D_i = H(i, a_i) ^
// H(i, b_i) for each entry whose bit is 1, and is predicted with probability 2^-r, where r is the
// rank of the D_i over GF(2). So n attacked entries are n independent coins only while their D_i
// are linearly independent, and never more than 128, which is the largest sigma. With a linear
// dependence among n entries, the n coins cost only n - 1 bits. It must be searched for online, as
// the key of H comes from the session, and before the message that fixes the candidates: with 2^64
// hashes among two or three entries (birthday), with 2^(128 / (1 + floor(log2 n))) among n whose
// candidates are free (generalised birthday: 2^43 for four, 2^32 for eight). If each entry also
// depends on an unknown bit that is revealed only after that message, as those of leaky triples on
// the honest party's d, then a dependence found in advance holds for the actual D_i with
// probability 2^-n.
#pragma once

#include <optional>
#include <span>

#include "crypto/tweak_hash.h"

namespace tinyot::crypto {

class HashSum {
 public:
  // The domains of several sums of a session differ in more than the low 32 bits of the counter,
  // which count the keys of H.
  HashSum(const SessionId& session, const Domain& domain, HashUse use)
      : session_(session), domain_(domain), use_(use) {}

  void absorb(std::span<const Block> blocks);

  // The sum since the last call. Positions continue.
  Block take();

 private:
  SessionId session_;
  Domain domain_;
  HashUse use_;
  std::optional<TweakHash> hash_;
  std::uint64_t position_ = 0;  // under the current key
  Block sum_{0, 0};
};

}  // namespace tinyot::crypto
