// The 128-bit word of the protocol (kappa = psi = 128) and the typed words made of it.
//
// Source: NNOB12 Fig. 3. The MAC holder has (x, M), the key holder has K and the global key Delta,
// and M = K ^ x.Delta. Mac, Key and Delta are distinct types, so that the only way from a Key to a
// Mac is the formula of the paper. None of them can be compared or printed: comparisons of secrets
// go through digests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "tinyot/block.h"

namespace tinyot {

inline constexpr std::size_t kKappa = 128;  // bits of a MAC, a local key and a global key

// `count`, rounded up to whole blocks of bits.
constexpr std::size_t whole_blocks(std::size_t count) {
  return (count + kKappa - 1) / kKappa * kKappa;
}

// All ones if the bit is 1, all zeros if it is 0: the branch-free form of "bit . string".
constexpr std::uint64_t mask_of(bool bit) { return ~(std::uint64_t{bit} - 1); }
constexpr Block times(Block block, bool bit) {
  return {block.lo & mask_of(bit), block.hi & mask_of(bit)};
}

// Bit `index` of a block. `index` is public.
constexpr bool bit_of(Block block, std::size_t index) {
  return ((index < 64 ? block.lo : block.hi) >> (index % 64)) & 1;
}

// 2.x in GF(2^128) = GF(2)[X] / (X^128 + X^7 + X^2 + X + 1), bit i of the block being the
// coefficient of X^i.
constexpr Block doubled(Block x) {
  const std::uint64_t carry = mask_of((x.hi >> 63) != 0) & 0x87;
  return {(x.lo << 1) ^ carry, (x.hi << 1) | (x.lo >> 63)};
}

struct Mac {
  Block value;
  friend constexpr Mac operator^(Mac a, Mac b) { return {a.value ^ b.value}; }
  constexpr Mac& operator^=(Mac b) { return *this = *this ^ b; }
};

struct Key {
  Block value;
  friend constexpr Key operator^(Key a, Key b) { return {a.value ^ b.value}; }
  constexpr Key& operator^=(Key b) { return *this = *this ^ b; }
};

struct Delta {
  Block value;

  // bit . Delta, usable only to compute a Mac from a Key.
  struct Multiple {
    Block value;
  };
  friend constexpr Multiple operator*(Delta delta, bool bit) { return {times(delta.value, bit)}; }
};

// M = K ^ x.Delta: the MAC that the holder of x has if it is honest.
constexpr Mac operator^(Key key, Delta::Multiple multiple) { return {key.value ^ multiple.value}; }

// [x] ^ b for a public constant b, on the key holder's side: K := K ^ b.Delta.
constexpr Key xor_public_bit(Key key, Delta delta, bool public_bit) {
  return {key.value ^ times(delta.value, public_bit)};
}

// A party's additive share of x.(Delta^A ^ Delta^B) for a bit x = x_A ^ x_B of which both have
// authenticated shares.
struct MacShare {
  Block value;
  friend constexpr MacShare operator^(MacShare a, MacShare b) { return {a.value ^ b.value}; }
  constexpr MacShare& operator^=(MacShare b) { return *this = *this ^ b; }
};

// Of party P with the global key Delta^P: x_P.Delta^P ^ M[x_P] ^ K[x_Q]. The two shares of a bit
// add up, since M[x_P] = K[x_P] ^ x_P.Delta^Q.
constexpr MacShare mac_share(bool my_bit, Mac mac, Key peers_key, Delta delta) {
  return {times(delta.value, my_bit) ^ mac.value ^ peers_key.value};
}

// The share of x ^ b for a public constant b.
constexpr MacShare xor_public_bit(MacShare share, Delta delta, bool public_bit) {
  return {share.value ^ times(delta.value, public_bit)};
}

// A 128-bit seed of a pseudorandom generator.
struct Seed {
  Block value;
};

static_assert(std::is_trivial_v<Mac> && std::is_trivial_v<Key> && std::is_trivial_v<Delta> &&
              std::is_trivial_v<MacShare>);

// The same words as plain blocks, for kernels that are independent of their meaning.
template <class Word>
requires(sizeof(Word) == sizeof(Block) &&
         std::is_trivial_v<Word>) std::span<Block> as_blocks(std::span<Word> words) {
  return {reinterpret_cast<Block*>(words.data()), words.size()};
}
template <class Word>
requires(sizeof(Word) == sizeof(Block) &&
         std::is_trivial_v<Word>) std::span<const Block> as_blocks(std::span<const Word> words) {
  return {reinterpret_cast<const Block*>(words.data()), words.size()};
}

}  // namespace tinyot
