// Integers as values: Word<n> of n bits, and Number of a width known only when the generator runs.
// Both are unsigned; SignedWord<n> and SignedNumber are signed, in two's complement. Bit 0 is the
// lowest. The functions of tinyot/circuit/integer.h accept all of them, as bits without a sign; the
// operators are in tinyot/circuit/operators.h.
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

// An integer of C++, which is public: the same for both parties.
template <class I>
concept PublicInteger = std::integral<I> && !std::same_as<I, bool>;

template <PublicInteger I>
constexpr bool is_negative(I value) {
  if constexpr (std::signed_integral<I>)
    return value < 0;
  else
    return false;
}

template <std::size_t n>
class Word {
 public:
  static constexpr bool kIsSigned = false;

  Word() = default;  // zero
  // Fails: UsageError for another number of bits.
  explicit Word(BitSpan bits) {
    require_same_width("a conversion to a Word", n, bits.size());
    std::copy(bits.begin(), bits.end(), bits_.begin());
  }
  // The constant `value`. Fails: UsageError if it does not fit.
  template <PublicInteger I>
  static Word constant(I value) {
    Word word;
    set_constant(word.bits(), static_cast<std::uint64_t>(value), is_negative(value), kIsSigned);
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
  static constexpr bool kIsSigned = false;

  explicit Number(std::size_t bits = 0) : bits_(bits) {}  // zero
  explicit Number(Bits bits) : bits_(std::move(bits)) {}
  explicit Number(BitSpan bits) : bits_(bits.begin(), bits.end()) {}
  // The constant `value`. Fails: UsageError if it does not fit.
  template <PublicInteger I>
  static Number constant(std::size_t bits, I value) {
    Number number(bits);
    set_constant(number.bits(), static_cast<std::uint64_t>(value), is_negative(value), kIsSigned);
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

// The bits of an unsigned integer W as a signed one: the highest has the weight -2^(n - 1).
template <class W>
class Signed {
 public:
  static constexpr bool kIsSigned = true;

  Signed() = default;  // zero
  explicit Signed(W bits) : bits_(std::move(bits)) {}
  explicit Signed(BitSpan bits) : bits_(bits) {}
  // Of a SignedNumber: zero of so many bits.
  template <std::convertible_to<std::size_t> Width>
  explicit Signed(Width bits) : bits_(bits) {}
  // The constant `value`. Fails: UsageError if it does not fit.
  template <PublicInteger I>
  static Signed constant(I value) {
    return Signed().filled(value);
  }
  template <PublicInteger I>
  static Signed constant(std::size_t bits, I value) {
    return Signed(bits).filled(value);
  }

  std::size_t size() const { return bits_.size(); }
  Signed zeros() const { return Signed(bits_.zeros()); }
  // Its bits as an unsigned integer.
  const W& as_unsigned() const { return bits_; }
  Bit& operator[](std::size_t i) { return bits_[i]; }
  const Bit& operator[](std::size_t i) const { return bits_[i]; }
  std::span<Bit> bits() { return bits_.bits(); }
  BitSpan bits() const { return bits_.bits(); }
  operator BitSpan() const { return bits_.bits(); }

 private:
  template <PublicInteger I>
  Signed filled(I value) && {
    set_constant(bits(), static_cast<std::uint64_t>(value), is_negative(value), kIsSigned);
    return std::move(*this);
  }

  W bits_;
};
using SignedNumber = Signed<Number>;
template <std::size_t n>
using SignedWord = Signed<Word<n>>;

template <class W>
concept Integer = requires(const W& x, W& z) {
  { x.zeros() } -> std::same_as<W>;
  { x.bits() } -> std::same_as<BitSpan>;
  { z.bits() } -> std::same_as<std::span<Bit>>;
  { W::kIsSigned } -> std::convertible_to<bool>;
};
template <class W>
concept UnsignedInteger = Integer<W> && !W::kIsSigned;

// The constant `value`, as wide as `model`. Fails: UsageError if it does not fit.
template <Integer W, PublicInteger I>
W constant_like(const W& model, I value) {
  W constant = model.zeros();
  set_constant(constant.bits(), static_cast<std::uint64_t>(value), is_negative(value),
               W::kIsSigned);
  return constant;
}

// Of any width: the lowest bits, or further ones that are 0, or the sign of a signed integer.
template <Integer W>
Number to_unsigned(const W& x, std::size_t bits) {
  Number z(bits);
  extend(z.bits(), x, W::kIsSigned);
  return z;
}
template <Integer W>
SignedNumber to_signed(const W& x, std::size_t bits) {
  return SignedNumber(to_unsigned(x, bits));
}
template <std::size_t n, Integer W>
Word<n> to_unsigned(const W& x) {
  Word<n> z;
  extend(z.bits(), x, W::kIsSigned);
  return z;
}
template <std::size_t n, Integer W>
SignedWord<n> to_signed(const W& x) {
  return SignedWord<n>(to_unsigned<n>(x));
}
// 0 or 1.
inline Number to_unsigned(const Bit& x, std::size_t bits) {
  Number z(bits);
  extend(z.bits(), BitSpan(&x, 1), false);
  return z;
}

}  // namespace tinyot::circuit
