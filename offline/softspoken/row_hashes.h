// Hashes of the rows that LaBit's check compares, 128 bits each (not in the paper; see
// leaky_bits.h): h(Z) = sum over j of chi_j.Z[j] in GF(2^128), Z[j] being block j of the row. The
// chi_j are public and random, and are revealed only after the rows are fixed. h is linear: the
// hash of a sum of rows is the sum of their hashes.
#pragma once

#include <vector>

#include "crypto/aes.h"
#include "crypto/gf128.h"
#include "crypto/public_coins.h"

namespace tinyot::offline {

class RowHashes {
 public:
  // chi_j is block j of a counter-mode stream keyed from the seed.
  RowHashes(const SessionId& session, const crypto::Domain& domain, const crypto::PublicSeed& seed,
            std::size_t rows);

  // The following calls of absorb take blocks [first_block, first_block + blocks) of their rows.
  void begin(std::size_t first_block, std::size_t blocks);
  void absorb(std::size_t row, std::span<const Block> blocks) {
    crypto::add_products(chi_, blocks, sums_[row]);
  }

  Block of(std::size_t row) const { return crypto::reduced(sums_[row]); }

 private:
  crypto::AesKey key_;
  std::vector<Block> chi_;
  SecretVector<crypto::WideBlock> sums_;
};

}  // namespace tinyot::offline
