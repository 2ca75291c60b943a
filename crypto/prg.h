// PRG: expands a 128-bit seed to a long string by AES-128 in counter mode, with random access.
//
// Source: NNOB12 Corollary 1 (seeds sent by the OTs, stretched to l bits).
#pragma once

#include <span>
#include <vector>

#include "base/block.h"
#include "base/secret.h"
#include "crypto/aes.h"

namespace tinyot::crypto {

// Many generators, one per seed, with their keys expanded once. Secret: the keys; wiped on
// destruction.
class PrgRows {
 public:
  PrgRows() = default;
  explicit PrgRows(std::span<const Seed> seeds) {
    keys_.reserve(seeds.size());
    for (const Seed& seed : seeds) keys_.push_back(expand_key(seed.value));
  }

  std::size_t size() const { return keys_.size(); }

  // inout ^= blocks [first_block, first_block + inout.size()) of generator `row`.
  void xor_into(std::size_t row, std::uint64_t first_block, std::span<Block> inout) const {
    ctr_xor(keys_[row], {first_block, 0}, inout);
  }
  void fill(std::size_t row, std::uint64_t first_block, std::span<Block> out) const {
    fill_of_stream(row, 0, first_block, out);
  }
  // The same in stream `stream` of generator `row`: each generator has 2^64 independent streams.
  void fill_of_stream(std::size_t row, std::uint64_t stream, std::uint64_t first_block,
                      std::span<Block> out) const {
    ctr_fill(keys_[row], {first_block, stream}, out);
  }

 private:
  SecretVector<AesKey> keys_;
};

}  // namespace tinyot::crypto
