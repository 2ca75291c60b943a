// SHA-256 and SHA-512 (FIPS 180-4) of a message of public length as circuits, padding included.
//
//   parameters  bytes: of the message
//   inputs      message (8 . bytes, A); omitted if it is empty
//   output      digest (256 or 512, to both)
//
// Byte k is wires 8k..8k+7 of a bundle, lowest bit first. One AND per full adder; three and more
// summands are first reduced to two by carry-save adders. Constants are folded: a compression of
// public values emits nothing, and the first block takes fewer ANDs.
//
//            block        ANDs      AND-depth
//   sha256   64 bytes     22,520    1,600
//   sha512   128 bytes    57,896    3,280
#pragma once

#include <array>
#include <span>

#include "circuitgen/generators/bytes.h"
#include "circuitgen/generators/family.h"

namespace tinyot::circuit {

// Words of 32 bits are those of SHA-256, words of 64 bits those of SHA-512.
template <std::size_t word_bits>
using Sha2State = std::array<Word<word_bits>, 8>;  // a, b, c, d, e, f, g, h
template <std::size_t word_bits>
using Sha2Block = std::array<Word<word_bits>, 16>;

// The compression function (sections 6.2.2 and 6.4.2): updates `hash` with one more block.
template <std::size_t word_bits>
void sha2_compress(Sha2State<word_bits>& hash, Sha2Block<word_bits> block);

// The digest of a message that is given byte by byte. A copy continues from the same state.
template <std::size_t word_bits>
class Sha2 {
 public:
  static constexpr std::size_t kBlockBytes = 2 * word_bits;
  static constexpr std::size_t kDigestBytes = word_bits;

  Sha2();
  // Continues from the state after `bytes` bytes, whole blocks.
  Sha2(const ByteWords& state, std::uint64_t bytes);
  void update(const ByteWord& byte);
  void update(std::span<const ByteWord> bytes) {
    for (const ByteWord& byte : bytes) update(byte);
  }
  ByteWords digest() &&;
  // After whole blocks: the words of the state, the highest byte of each first.
  ByteWords state() const;

 private:
  Sha2State<word_bits> state_;
  Sha2Block<word_bits> block_;
  std::uint64_t bytes_ = 0;  // so far
};

using Sha256 = Sha2<32>;
using Sha512 = Sha2<64>;

CircuitFamily sha256_family();
CircuitFamily sha512_family();

}  // namespace tinyot::circuit
