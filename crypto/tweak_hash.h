// H: the tweakable circular correlation-robust hash H(t, x) = P(P(x) ^ t) ^ P(x), P fixed-key AES
// (doc/protocol.md, section 2).
//
// Source: Guo, Katz, Wang, Yu, "Efficient and Secure Multiparty Computation from Fixed-Key Block
// Ciphers" (S&P 2020).
//
// Tweaks. The key of P comes from RO(session, phase, direction, counter), so sessions, directions,
// kinds of objects and batches have different keys; within a batch the tweak is (use, object
// index), and no such pair is hashed twice. A batch has at most kObjectsMax objects, which limits
// the loss by the fixed key to 20 bits of 128.
//
// Two-block inputs, H(K_x, K_z), are first collapsed to 2.K_x ^ 4.K_z with doubling in GF(2^128).
// That is enough here: honest keys are uniform and independent, so for fixed multipliers the sum is
// uniform; two inputs (K_x, K_z), (K_x ^ a.Delta, K_z ^ b.Delta ^ K_y) of honest keys collide only
// if a linear relation with non-zero coefficients holds among uniform blocks, which has probability
// 2^-128; and for the differences that occur, (a, b) != (0, 0), the collapsed difference is (2a ^
// 4b).Delta, a non-zero multiple of Delta, so correlation robustness under Delta carries over.
#pragma once

#include <span>

#include "base/block.h"
#include "base/session_id.h"
#include "crypto/aes.h"
#include "crypto/hash_uses.h"
#include "crypto/random_oracle.h"

namespace tinyot::crypto {

class TweakHash {
 public:
  static constexpr std::uint64_t kObjectsMax = std::uint64_t{1} << 20;

  TweakHash(const SessionId& session, const Domain& batch)
      : key_(expand_key(RandomOracle(session, batch).block())) {}

  // out[i] = H((use, first + i), in[i]). `in` and `out` may be the same span.
  void operator()(HashUse use, std::uint64_t first, std::span<const Block> in,
                  std::span<Block> out) const {
    tweaked_hash(key_, {first, static_cast<std::uint64_t>(use)}, in, out);
  }

 private:
  AesKey key_;
};

// The 2-to-1 step for two-block inputs.
constexpr Block collapsed(Block first, Block second) { return doubled(first ^ doubled(second)); }

}  // namespace tinyot::crypto
