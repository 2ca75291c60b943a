// A vector of bits packed into 64-bit words, wiped on destruction. Bit j is bit j % 64 of word j /
// 64; on the wire and on disk it is bit j % 8 of byte j / 8. Bits beyond the size are always zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.h"
#include "base/secret.h"

namespace tinyot {

constexpr std::size_t words_for(std::size_t bits) { return (bits + 63) / 64; }
constexpr std::size_t bytes_for(std::size_t bits) { return (bits + 7) / 8; }

inline bool get_bit(std::span<const std::uint64_t> words, std::size_t index) {
  return (words[index / 64] >> (index % 64)) & 1;
}
inline void put_bit(std::span<std::uint64_t> words, std::size_t index, bool bit) {
  const std::uint64_t mask = std::uint64_t{1} << (index % 64);
  words[index / 64] =
      (words[index / 64] & ~mask) | (mask & (std::uint64_t{0} - std::uint64_t{bit}));
}

class BitVector {
 public:
  BitVector() = default;
  explicit BitVector(std::size_t size) : words_(words_for(size), 0), size_(size) {}

  std::size_t size() const { return size_; }
  bool operator[](std::size_t index) const { return get_bit(words_, index); }
  void put(std::size_t index, bool bit) { put_bit(words_, index, bit); }

  std::span<std::uint64_t> words() { return words_; }
  std::span<const std::uint64_t> words() const { return words_; }

  // The wire form; call clear_padding after writing through the mutable span.
  std::span<std::byte> bytes() {
    return std::as_writable_bytes(std::span(words_)).first(bytes_for(size_));
  }
  std::span<const std::byte> bytes() const {
    return std::as_bytes(std::span(words_)).first(bytes_for(size_));
  }

  // Clears the bits beyond the size; false if one of them was set.
  bool clear_padding();

  BitVector& operator^=(const BitVector& other);

  // Copies `count` bits from bit `from` of `source` to bit `to` of this vector.
  void copy_from(const BitVector& source, std::size_t from, std::size_t to, std::size_t count);

 private:
  SecretVector<std::uint64_t> words_;
  std::size_t size_ = 0;
};

// Copies `count` bits between packed words at any offsets; bits outside the target range are
// unchanged.
void copy_bits(std::span<const std::uint64_t> source, std::size_t from,
               std::span<std::uint64_t> target, std::size_t to, std::size_t count);

}  // namespace tinyot
