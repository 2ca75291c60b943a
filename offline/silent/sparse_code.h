// The code of an iteration of silent bits: each output is the sum of a noise bit and ten bits of
// the secret, alike on bits, MACs and keys (doc/protocol.md, section 17.3).
//
//   output y = noise y ^ sum of secret[idx(y, f)] over f = 0..9
#pragma once

#include <span>

#include "base/auth_bits.h"
#include "checks/session.h"
#include "crypto/public_coins.h"

namespace tinyot::offline {

inline constexpr std::size_t kRowOnes = 10;

// Role: both. Coins for the codes of a chain: tossed once, before any correction is sent. A party
// that chose the code could choose one that is easier to decode.
// Wire, Fails: as checks::toss_coins.
crypto::PublicSeed toss_code(checks::Session& session);

class SparseCode {
 public:
  // Role: both. The code of an iteration of the bits of `mac_holder`; the secret has 2^secret_log
  // bits. Every iteration must have a fresh code: the key depends on the direction, the iteration,
  // the coins, and the id of the session's part, which differs by session, connection and worker.
  // The estimates of the parameter sets require this. With one code for 2^30 iterations, the dense
  // minors found in it would serve them all, and 117 bits would be left.
  // Shapes: session: the chain's part; iteration: unique in it.
  SparseCode(const checks::Session& session, Party mac_holder, std::uint64_t iteration,
             const crypto::PublicSeed& coins, std::uint32_t secret_log);

  // idx(first, 0), ..., idx(first, 9), idx(first + 1, 0), ...  Shapes: ten for each output.
  void indices(std::uint64_t first, std::span<std::uint32_t> out) const;

  // Outputs from `first` on, of MACs or keys.  Shapes: secret: 2^secret_log blocks; noise, out: of
  // equal length.
  void encode(std::uint64_t first, std::span<const Block> secret, std::span<const Block> noise,
              std::span<Block> out) const;
  // The same of MACs, and of bits: those of the secret, without the noise.  Shapes: out a multiple
  // of 64.
  void encode(std::uint64_t first, std::span<const Block> secret_macs,
              std::span<const std::uint64_t> secret_bits, std::span<const Block> noise_macs,
              MacColumnView out) const;

 private:
  // The blocks from which the indices of outputs from `first` on are taken, two of each.
  void fill(std::uint64_t first, std::span<Block> random) const;
  void unpack(const Block* random, std::uint32_t* row) const;
  // Calls use(i, row) for the outputs first + i in order, with their indices; the secret's blocks
  // that they name are in the cache.
  template <class Use>
  void for_each_row(std::uint64_t first, std::size_t outputs, const Block* secret, Use use) const;

  crypto::AesKey key_;
  std::uint64_t iteration_;
  std::uint32_t mask_;
};

}  // namespace tinyot::offline
