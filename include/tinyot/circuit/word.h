// Integers as values: Word<n> of n bits, and Number of a width known only when the generator runs.
// Both are thin wrappers around tinyot/circuit/integer.h, whose functions accept them directly.
//
// The operands of one operation and its result have the same width: arithmetic is modulo 2^n. Bit 0
// is the lowest.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "tinyot/circuit/integer.h"

namespace tinyot::circuit {

template <std::size_t n>
class Word {
 public:
  Word() = default;  // zero
  explicit Word(BitSpan bits) {
    require(bits.size() == n, "the bits do not have the width of the Word");
    std::copy(bits.begin(), bits.end(), bits_.begin());
  }
  // The constant `value`; bits from 64 on are 0.
  static Word constant(std::uint64_t value) {
    Word word;
    for (std::size_t i = 0; i < std::min<std::size_t>(n, 64); ++i)
      word[i] = Bit(((value >> i) & 1) != 0);
    return word;
  }

  static constexpr std::size_t size() { return n; }
  Word zeros() const { return {}; }
  Bit& operator[](std::size_t i) { return bits_[i]; }
  const Bit& operator[](std::size_t i) const { return bits_[i]; }
  std::span<Bit> bits() { return bits_; }
  BitSpan bits() const { return bits_; }
  operator BitSpan() const { return bits_; }

 private:
  std::array<Bit, n> bits_;
};

class Number {
 public:
  explicit Number(std::size_t bits = 0) : bits_(bits) {}  // zero
  explicit Number(Bits bits) : bits_(std::move(bits)) {}
  static Number constant(std::size_t bits, std::uint64_t value) {
    Number number(bits);
    for (std::size_t i = 0; i < bits && i < 64; ++i) number[i] = Bit(((value >> i) & 1) != 0);
    return number;
  }

  std::size_t size() const { return bits_.size(); }
  Number zeros() const { return Number(size()); }
  Bit& operator[](std::size_t i) { return bits_[i]; }
  const Bit& operator[](std::size_t i) const { return bits_[i]; }
  std::span<Bit> bits() { return bits_; }
  BitSpan bits() const { return bits_; }
  operator BitSpan() const { return bits_; }

 private:
  Bits bits_;
};

template <class W>
concept Integer = requires(const W& x, W& z) {
  { x.zeros() } -> std::same_as<W>;
  { x.bits() } -> std::same_as<BitSpan>;
  { z.bits() } -> std::same_as<std::span<Bit>>;
};

// z = operation(x, y) bit by bit.
template <Integer W, class Operation>
W bit_by_bit(const W& x, const W& y, Operation operation) {
  require(x.size() == y.size(), "operands of different widths");
  W z = x.zeros();
  for (std::size_t i = 0; i < x.size(); ++i) z[i] = operation(x[i], y[i]);
  return z;
}

template <Integer W>
W operator^(const W& x, const W& y) {
  return bit_by_bit(x, y, [](const Bit& a, const Bit& b) { return a ^ b; });
}
template <Integer W>
W operator&(const W& x, const W& y) {
  return bit_by_bit(x, y, [](const Bit& a, const Bit& b) { return a & b; });
}
template <Integer W>
W operator|(const W& x, const W& y) {
  return bit_by_bit(x, y, [](const Bit& a, const Bit& b) { return a | b; });
}
template <Integer W>
W operator~(const W& x) {
  return bit_by_bit(x, x, [](const Bit& a, const Bit&) { return ~a; });
}
template <Integer W>
W operator+(const W& x, const W& y) {
  W z = x.zeros();
  add(z.bits(), x, y);
  return z;
}
template <Integer W>
W operator-(const W& x, const W& y) {
  W z = x.zeros();
  subtract(z.bits(), x, y);
  return z;
}
template <Integer W>
W operator*(const W& x, const W& y) {
  require(x.size() == y.size(), "operands of different widths");
  W z = x.zeros();
  multiply(z.bits(), x, y);
  return z;
}

template <Integer W>
W& operator^=(W& x, const W& y) {
  return x = x ^ y;
}
template <Integer W>
W& operator+=(W& x, const W& y) {
  return x = x + y;
}

// condition ? x : y
template <Integer W>
W select(const Bit& condition, const W& x, const W& y) {
  W z = x.zeros();
  select(z.bits(), condition, x, y);
  return z;
}

// `count` is a public std::size_t or a secret integer of any width.
template <Integer W, class Count>
W shifted_left(const W& x, const Count& count) {
  W z = x.zeros();
  shift_left(z.bits(), x, count);
  return z;
}
template <Integer W, class Count>
W shifted_right(const W& x, const Count& count) {
  W z = x.zeros();
  shift_right(z.bits(), x, count);
  return z;
}

// Rotations by any public count, towards the high and towards the low bits.
template <Integer W>
W rotated_left(const W& x, std::size_t count) {
  W z = x.zeros();
  for (std::size_t i = 0; i < x.size(); ++i) z[(i + count) % x.size()] = x[i];
  return z;
}
template <Integer W>
W rotated_right(const W& x, std::size_t count) {
  W z = x.zeros();
  for (std::size_t i = 0; i < x.size(); ++i) z[i] = x[(i + count) % x.size()];
  return z;
}

}  // namespace tinyot::circuit
