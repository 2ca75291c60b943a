// Operators on integers of circuits. Each emits the gates of the function of
// tinyot/circuit/integer.h that it is named after; Python's operators emit the same.
//
// The operands of one operation have the same type and width, and so has its result: arithmetic is
// modulo 2^n. One of them may be a public integer of C++. Comparisons give a Bit. Fails: UsageError
// for operands of different widths, and for a public operand that does not fit.
//
// The compiler chooses which operand of an expression it evaluates first. Where both make gates,
// one of them should be a statement before it: the order of the gates is part of the circuit.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>

#include "tinyot/circuit/word.h"

namespace tinyot::circuit {

// The type of an operand beside an X: one of the two is an integer of the circuit.
template <class Y, class X>
concept OperandWith = (Integer<X> && (std::same_as<X, Y> || PublicInteger<Y>)) ||
                      (PublicInteger<X> && Integer<Y>);
template <class X, class Y>
using CommonInteger = std::conditional_t<Integer<X>, X, Y>;

// work(x, y) with both operands as integers of the circuit.
template <class X, OperandWith<X> Y, class Work>
auto with_operands(const char* operation, const X& x, const Y& y, Work work) {
  if constexpr (PublicInteger<X>) {
    return work(constant_like(y, x), y);
  } else if constexpr (PublicInteger<Y>) {
    return work(x, constant_like(x, y));
  } else {
    require_same_width(operation, x.size(), y.size());
    return work(x, y);
  }
}

// Both operands as integers of the circuit, and a result of their type that work(z, x, y) sets.
template <class X, OperandWith<X> Y, class Work>
CommonInteger<X, Y> result_of(const char* operation, const X& x, const Y& y, Work work) {
  return with_operands(operation, x, y, [&work](const auto& a, const auto& b) {
    CommonInteger<X, Y> z = a.zeros();
    work(z, a, b);
    return z;
  });
}

template <class X, OperandWith<X> Y>
CommonInteger<X, Y> operator^(const X& x, const Y& y) {
  return result_of("^", x, y, [](auto& z, const auto& a, const auto& b) {
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = a[i] ^ b[i];
  });
}
template <class X, OperandWith<X> Y>
CommonInteger<X, Y> operator&(const X& x, const Y& y) {
  return result_of("&", x, y, [](auto& z, const auto& a, const auto& b) {
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = a[i] & b[i];
  });
}
template <class X, OperandWith<X> Y>
CommonInteger<X, Y> operator|(const X& x, const Y& y) {
  return result_of("|", x, y, [](auto& z, const auto& a, const auto& b) {
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = a[i] | b[i];
  });
}
template <Integer W>
W operator~(const W& x) {
  W z = x.zeros();
  for (std::size_t i = 0; i < x.size(); ++i) z[i] = ~x[i];
  return z;
}

template <class X, OperandWith<X> Y>
CommonInteger<X, Y> operator+(const X& x, const Y& y) {
  return result_of("+", x, y, [](auto& z, const auto& a, const auto& b) { add(z.bits(), a, b); });
}
template <class X, OperandWith<X> Y>
CommonInteger<X, Y> operator-(const X& x, const Y& y) {
  return result_of("-", x, y,
                   [](auto& z, const auto& a, const auto& b) { subtract(z.bits(), a, b); });
}
template <Integer W>
W operator-(const W& x) {
  return x.zeros() - x;
}
template <class X, OperandWith<X> Y>
CommonInteger<X, Y> operator*(const X& x, const Y& y) {
  return result_of("*", x, y,
                   [](auto& z, const auto& a, const auto& b) { multiply(z.bits(), a, b); });
}

// Quotients are rounded down, as in Python, so the remainder of a signed integer has the sign of
// the divisor: -7 / 2 is -4, and -7 % 2 is 1. By 0: all ones and x if they are unsigned; without
// meaning if they are signed.
template <Integer W>
void divide_into(std::span<Bit> quotient, std::span<Bit> remainder, const W& x, const W& y) {
  if constexpr (W::kIsSigned)
    divide_signed(quotient, remainder, x, y);
  else
    divide(quotient, remainder, x, y);
}
template <class X, OperandWith<X> Y>
CommonInteger<X, Y> operator/(const X& x, const Y& y) {
  return result_of("/", x, y,
                   [](auto& z, const auto& a, const auto& b) { divide_into(z.bits(), {}, a, b); });
}
template <class X, OperandWith<X> Y>
CommonInteger<X, Y> operator%(const X& x, const Y& y) {
  return result_of("%", x, y,
                   [](auto& z, const auto& a, const auto& b) { divide_into({}, z.bits(), a, b); });
}
template <Integer W>
struct Division {
  W quotient, remainder;
};
// Both at the cost of one division.
template <class X, OperandWith<X> Y>
Division<CommonInteger<X, Y>> divide(const X& x, const Y& y) {
  return with_operands("a division", x, y, [](const auto& a, const auto& b) {
    Division<CommonInteger<X, Y>> both{a.zeros(), a.zeros()};
    divide_into(both.quotient.bits(), both.remainder.bits(), a, b);
    return both;
  });
}

template <class W>
Signed<W> abs(const Signed<W>& x) {
  Signed<W> z = x.zeros();
  magnitude(z.bits(), x);
  return z;
}

// Shifts towards the high and towards the low bits, by a public count that is not negative or by a
// secret unsigned integer of any width. What is shifted in is 0, or the sign of a signed integer.
template <class C>
concept ShiftCount = PublicInteger<C> || UnsignedInteger<C>;
template <ShiftCount C>
auto shift_count(const C& count) {
  if constexpr (PublicInteger<C>) {
    if (is_negative(count)) refuse_shift(static_cast<std::int64_t>(count));
    return static_cast<std::size_t>(count);
  } else {
    return count.bits();
  }
}
template <Integer W, ShiftCount C>
W operator<<(const W& x, const C& count) {
  W z = x.zeros();
  shift_left(z.bits(), x, shift_count(count));
  return z;
}
template <Integer W, ShiftCount C>
W operator>>(const W& x, const C& count) {
  W z = x.zeros();
  if constexpr (W::kIsSigned)
    shift_right_signed(z.bits(), x, shift_count(count));
  else
    shift_right(z.bits(), x, shift_count(count));
  return z;
}
template <Integer W, ShiftCount C>
W shifted_left(const W& x, const C& count) {
  return x << count;
}
template <Integer W, ShiftCount C>
W shifted_right(const W& x, const C& count) {
  return x >> count;
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

template <Integer W>
Bit is_less(const W& x, const W& y) {
  return W::kIsSigned ? less_signed(x, y) : less(x.bits(), y.bits());
}
template <class X, OperandWith<X> Y>
Bit operator<(const X& x, const Y& y) {
  return with_operands("<", x, y, [](const auto& a, const auto& b) { return is_less(a, b); });
}
template <class X, OperandWith<X> Y>
Bit operator>(const X& x, const Y& y) {
  return with_operands(">", x, y, [](const auto& a, const auto& b) { return is_less(b, a); });
}
template <class X, OperandWith<X> Y>
Bit operator<=(const X& x, const Y& y) {
  return with_operands("<=", x, y, [](const auto& a, const auto& b) { return ~is_less(b, a); });
}
template <class X, OperandWith<X> Y>
Bit operator>=(const X& x, const Y& y) {
  return with_operands(">=", x, y, [](const auto& a, const auto& b) { return ~is_less(a, b); });
}
template <class X, OperandWith<X> Y>
Bit operator==(const X& x, const Y& y) {
  return with_operands("==", x, y, [](const auto& a, const auto& b) { return equal(a, b); });
}
template <class X, OperandWith<X> Y>
Bit operator!=(const X& x, const Y& y) {
  return with_operands("!=", x, y, [](const auto& a, const auto& b) { return differ(a, b); });
}
// less() of integer.h takes bits as they are.
template <class W>
Bit less(const Signed<W>& x, const Signed<W>& y) {
  return x < y;
}

// condition ? x : y
template <class X, OperandWith<X> Y>
CommonInteger<X, Y> select(const Bit& condition, const X& x, const Y& y) {
  return result_of("select", x, y, [&](auto& z, const auto& a, const auto& b) {
    select(z.bits(), condition, a, b);
  });
}

template <Integer W, OperandWith<W> Y>
W& operator^=(W& x, const Y& y) {
  return x = x ^ y;
}
template <Integer W, OperandWith<W> Y>
W& operator&=(W& x, const Y& y) {
  return x = x & y;
}
template <Integer W, OperandWith<W> Y>
W& operator|=(W& x, const Y& y) {
  return x = x | y;
}
template <Integer W, OperandWith<W> Y>
W& operator+=(W& x, const Y& y) {
  return x = x + y;
}
template <Integer W, OperandWith<W> Y>
W& operator-=(W& x, const Y& y) {
  return x = x - y;
}
template <Integer W, OperandWith<W> Y>
W& operator*=(W& x, const Y& y) {
  return x = x * y;
}
template <Integer W, OperandWith<W> Y>
W& operator/=(W& x, const Y& y) {
  return x = x / y;
}
template <Integer W, OperandWith<W> Y>
W& operator%=(W& x, const Y& y) {
  return x = x % y;
}
template <Integer W, ShiftCount C>
W& operator<<=(W& x, const C& count) {
  return x = x << count;
}
template <Integer W, ShiftCount C>
W& operator>>=(W& x, const C& count) {
  return x = x >> count;
}

// Operands of different types, such as a signed and an unsigned integer, or a Word and a Number,
// and signed counts of shifts. They are refused here so that the compiler says what to do, in place
// of listing what it has tried.
template <class Y, class X>
concept OtherIntegerThan = Integer<X> && Integer<Y> && !std::same_as<X, Y>;
template <class C>
concept SignedCount = Integer<C> && !UnsignedInteger<C>;
struct ConvertOneOperandWithToSignedOrToUnsigned {};
struct ConvertTheCountWithToUnsigned {};

template <class X, OtherIntegerThan<X> Y>
ConvertOneOperandWithToSignedOrToUnsigned operator^(const X&, const Y&) = delete;
template <class X, OtherIntegerThan<X> Y>
ConvertOneOperandWithToSignedOrToUnsigned operator&(const X&, const Y&) = delete;
template <class X, OtherIntegerThan<X> Y>
ConvertOneOperandWithToSignedOrToUnsigned operator|(const X&, const Y&) = delete;
template <class X, OtherIntegerThan<X> Y>
ConvertOneOperandWithToSignedOrToUnsigned operator+(const X&, const Y&) = delete;
template <class X, OtherIntegerThan<X> Y>
ConvertOneOperandWithToSignedOrToUnsigned operator-(const X&, const Y&) = delete;
template <class X, OtherIntegerThan<X> Y>
ConvertOneOperandWithToSignedOrToUnsigned operator*(const X&, const Y&) = delete;
template <class X, OtherIntegerThan<X> Y>
ConvertOneOperandWithToSignedOrToUnsigned operator/(const X&, const Y&) = delete;
template <class X, OtherIntegerThan<X> Y>
ConvertOneOperandWithToSignedOrToUnsigned operator%(const X&, const Y&) = delete;
template <class X, OtherIntegerThan<X> Y>
ConvertOneOperandWithToSignedOrToUnsigned operator<(const X&, const Y&) = delete;
template <class X, OtherIntegerThan<X> Y>
ConvertOneOperandWithToSignedOrToUnsigned operator>(const X&, const Y&) = delete;
template <class X, OtherIntegerThan<X> Y>
ConvertOneOperandWithToSignedOrToUnsigned operator<=(const X&, const Y&) = delete;
template <class X, OtherIntegerThan<X> Y>
ConvertOneOperandWithToSignedOrToUnsigned operator>=(const X&, const Y&) = delete;
template <class X, OtherIntegerThan<X> Y>
ConvertOneOperandWithToSignedOrToUnsigned operator==(const X&, const Y&) = delete;
template <class X, OtherIntegerThan<X> Y>
ConvertOneOperandWithToSignedOrToUnsigned operator!=(const X&, const Y&) = delete;
template <class X, OtherIntegerThan<X> Y>
ConvertOneOperandWithToSignedOrToUnsigned divide(const X&, const Y&) = delete;
template <class X, OtherIntegerThan<X> Y>
ConvertOneOperandWithToSignedOrToUnsigned select(const Bit&, const X&, const Y&) = delete;
template <class X, OtherIntegerThan<X> Y>
ConvertOneOperandWithToSignedOrToUnsigned operator^=(X&, const Y&) = delete;
template <class X, OtherIntegerThan<X> Y>
ConvertOneOperandWithToSignedOrToUnsigned operator&=(X&, const Y&) = delete;
template <class X, OtherIntegerThan<X> Y>
ConvertOneOperandWithToSignedOrToUnsigned operator|=(X&, const Y&) = delete;
template <class X, OtherIntegerThan<X> Y>
ConvertOneOperandWithToSignedOrToUnsigned operator+=(X&, const Y&) = delete;
template <class X, OtherIntegerThan<X> Y>
ConvertOneOperandWithToSignedOrToUnsigned operator-=(X&, const Y&) = delete;
template <class X, OtherIntegerThan<X> Y>
ConvertOneOperandWithToSignedOrToUnsigned operator*=(X&, const Y&) = delete;
template <class X, OtherIntegerThan<X> Y>
ConvertOneOperandWithToSignedOrToUnsigned operator/=(X&, const Y&) = delete;
template <class X, OtherIntegerThan<X> Y>
ConvertOneOperandWithToSignedOrToUnsigned operator%=(X&, const Y&) = delete;
template <Integer W, SignedCount C>
ConvertTheCountWithToUnsigned operator<<(const W&, const C&) = delete;
template <Integer W, SignedCount C>
ConvertTheCountWithToUnsigned operator>>(const W&, const C&) = delete;
template <Integer W, SignedCount C>
ConvertTheCountWithToUnsigned operator<<=(W&, const C&) = delete;
template <Integer W, SignedCount C>
ConvertTheCountWithToUnsigned operator>>=(W&, const C&) = delete;

}  // namespace tinyot::circuit
