// The pad of prepared rows (doc/protocol.md, section 16.7), one block after the other.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "crypto/aes.h"
#include "tests/support/layers.h"

namespace tinyot::test {

// AES with the seed as key. Each string of a chunk begins with a block of its own.
class RowPadOf {
 public:
  RowPadOf(const Seed& seed, std::uint64_t chunk)
      : key_(crypto::expand_key(seed.value)), chunk_(chunk) {}

  void add_to(std::span<std::byte> string) {
    for (std::size_t at = 0; at < string.size(); at += sizeof(Block)) {
      std::array<Block, 1> block{};
      crypto::ctr_fill(key_, {next_++, chunk_}, block);
      for (std::size_t i = at; i < std::min(at + sizeof(Block), string.size()); ++i)
        string[i] ^= std::as_bytes(std::span(block))[i - at];
    }
  }

 private:
  crypto::AesKey key_;
  std::uint64_t chunk_, next_ = 0;
};

}  // namespace tinyot::test
