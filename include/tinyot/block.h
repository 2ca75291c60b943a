// A string of 128 bits: bit i is bit i of `lo`, bit 64 + i is bit i of `hi`.
#pragma once

#include <cstdint>
#include <type_traits>

namespace tinyot {

struct alignas(16) Block {
  std::uint64_t lo;
  std::uint64_t hi;

  friend constexpr Block operator^(Block a, Block b) { return {a.lo ^ b.lo, a.hi ^ b.hi}; }
  friend constexpr Block operator&(Block a, Block b) { return {a.lo & b.lo, a.hi & b.hi}; }
  constexpr Block& operator^=(Block b) { return *this = *this ^ b; }
};
static_assert(sizeof(Block) == 16 && std::is_trivial_v<Block>);

}  // namespace tinyot
