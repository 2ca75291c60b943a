// My shares of the triples of a round, by entry (online/runtime.h). 0, 1, 2: the factors u and v,
// and w = uv.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bit_vector.h"
#include "base/block.h"
#include "online/material_reader.h"

namespace tinyot::online {

// `count` bits, at most 64, from `first` on.
inline std::uint64_t bits_at(const BitVector& bits, std::size_t first, std::size_t count) {
  std::array<std::uint64_t, 1> word{};
  copy_bits(bits.words(), first, word, 0, count);
  return word[0];
}

class TripleBlocksOf {
 public:
  explicit TripleBlocksOf(const material::Slices& triples);

  // The blocks of the entries from `entry` on that are contiguous, at most `count` of them.
  struct Run {
    std::array<const Block*, 3> columns;
    std::size_t count;
  };
  Run at(std::size_t entry, std::size_t count) const;
  // to[i] = from[i] ^ the factor of the entry `entry` + i.
  void add_factor(std::size_t operand, std::size_t entry, std::span<const Block> from,
                  Block* to) const;

 private:
  const material::Slices* triples_;
  std::vector<std::size_t> ends_;
};

struct RoundTriples {
  explicit RoundTriples(const material::Slices& triples);

  TripleBlocksOf blocks;
  std::array<BitVector, 3> bits;
};

}  // namespace tinyot::online
