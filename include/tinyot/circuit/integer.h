// Integers as spans of bits, bit 0 the lowest: the arithmetic that tinyot/circuit/word.h and
// operators.h wrap into types. They are unsigned unless a name says `signed`: then the highest bit
// has the weight -2^(n - 1).
//
// The functions minimise ANDs first, then depth, then XORs. In the stated costs, n is the width of
// the operands. The spans of one call have the same width unless stated otherwise; `out` may be one
// of the operands. Fails: UsageError on wrong widths, naming them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tinyot/circuit/builder.h"
#include "tinyot/export.h"

namespace tinyot::circuit {

// One bit of an adder or a subtractor: one AND each.
struct Digit {
  Bit value;
  Bit carry;  // or borrow
};
TINYOT_API Digit full_add(const Bit& x, const Bit& y, const Bit& carry);        // x + y + carry
TINYOT_API Digit full_subtract(const Bit& x, const Bit& y, const Bit& borrow);  // x - y - borrow
// Of x - y - borrow alone.
TINYOT_API Bit next_borrow(const Bit& x, const Bit& y, const Bit& borrow);

// condition ? x : y. One AND per bit.
TINYOT_API Bit select(const Bit& condition, const Bit& x, const Bit& y);
TINYOT_API void select(std::span<Bit> out, const Bit& condition, BitSpan x, BitSpan y);

// Swaps x and y if `condition` is 1. One AND per bit.
TINYOT_API void exchange(const Bit& condition, std::span<Bit> x, std::span<Bit> y);

// Modulo 2^n: n - 1 ANDs at depth n - 1.
TINYOT_API void add(std::span<Bit> out, BitSpan x, BitSpan y);
TINYOT_API void subtract(std::span<Bit> out, BitSpan x, BitSpan y);

// x + y + z = sum + carries modulo 2^n, without carry propagation: n - 1 ANDs at depth 1.
TINYOT_API void carry_save(std::span<Bit> sum, std::span<Bit> carries, BitSpan x, BitSpan y,
                           BitSpan z);

// Modulo 2^out.size(); x and y of any width. Sums all products of two bits, place by place: at most
// 2 n^2 - n ANDs.
TINYOT_API void multiply(std::span<Bit> out, BitSpan x, BitSpan y);

// x / y and x % y; y = 0 gives all ones and the low bits of x. `quotient` has the width n of x,
// `remainder` the width m of y; either may be empty. With k = min(n, m), the quotient takes at most
// n k - k (k - 1) / 2 + n + m - 2 ANDs (and at least 1), the remainder 2 k - 1 more; the depth is
// of the same order.
TINYOT_API void divide(std::span<Bit> quotient, std::span<Bit> remainder, BitSpan x, BitSpan y);

// Of signed integers, rounded down: the remainder has the sign of y. Without meaning for y = 0.
// Either result may be empty. Beyond divide() of n bits with both results, at most 3 n - 2 ANDs,
// n - 1 for the quotient and 2 n - 1 for the remainder.
TINYOT_API void divide_signed(std::span<Bit> quotient, std::span<Bit> remainder, BitSpan x,
                              BitSpan y);

// |x| of a signed integer, as an unsigned one of the same width: n - 1 ANDs.
TINYOT_API void magnitude(std::span<Bit> out, BitSpan x);

TINYOT_API Bit less(BitSpan x, BitSpan y);  // x < y: n ANDs at depth n
TINYOT_API Bit less_signed(BitSpan x, BitSpan y);
TINYOT_API Bit equal(BitSpan x, BitSpan y);   // n - 1 ANDs at depth log n, as the next three:
TINYOT_API Bit differ(BitSpan x, BitSpan y);  // not equal
TINYOT_API Bit any(BitSpan x);                // some bit is 1
TINYOT_API Bit all(BitSpan x);                // no bit is 0
// The same as a tree of groups (gate.h) of `arity` bits each, from 2 to 8: of rounds in which a
// group counts as one gate log n to the base `arity`. A group of m bits takes 2^m - m - 1 masked
// triples, and m - 1 ANDs. Fails: UsageError for another arity.
TINYOT_API Bit all(BitSpan x, std::size_t arity);

// Shifts towards the high and towards the low bits by any count, filling with zeros. A public count
// costs nothing. A secret count of any width costs n ANDs for each of its lowest ceil(log2 n) bits;
// if it has further bits, n ANDs in total and one for each of them.
TINYOT_API void shift_left(std::span<Bit> out, BitSpan x, std::size_t count);
TINYOT_API void shift_right(std::span<Bit> out, BitSpan x, std::size_t count);
TINYOT_API void shift_left(std::span<Bit> out, BitSpan x, BitSpan count);
TINYOT_API void shift_right(std::span<Bit> out, BitSpan x, BitSpan count);
// Filling with the highest bit, at the same number of ANDs.
TINYOT_API void shift_right_signed(std::span<Bit> out, BitSpan x, std::size_t count);
TINYOT_API void shift_right_signed(std::span<Bit> out, BitSpan x, BitSpan count);

// The number of 1 bits, as bit_width(n) bits: n - popcount(n) ANDs.
// Source: Boyar, Peralta, "Tight bounds for the multiplicative complexity of symmetric functions",
// TCS 396 (2008).
TINYOT_API Bits population_count(BitSpan x);

// Bit j of table[index] for j < out.size(), from a public table of 2^index.size() entries: 2^n - n
// - 1 ANDs at depth log n for n index bits, for any width of the entries. At most 16 index bits.
TINYOT_API void look_up(std::span<Bit> out, std::span<const std::uint64_t> table, BitSpan index);

// A sum of single bits, each weighted by a power of two. Full adders compress the bits of one
// weight as soon as kHeld of them are stored, so that a long sum does not store all its bits.
class BitSum {
 public:
  explicit BitSum(std::size_t width) : columns_(width) {}  // modulo 2^width
  TINYOT_API void add(Bit bit, std::size_t place = 0);     // of weight 2^place
  TINYOT_API Bits total() &&;

 private:
  static constexpr std::size_t kHeld = std::size_t{1} << 12;
  void compress(std::size_t place, std::size_t keep);
  std::vector<Bits> columns_;  // by place
};

// What the types and their operators are made of.
//
// The bits of x, and further ones that are 0 or the highest one of x. `out` is of any width.
TINYOT_API void extend(std::span<Bit> out, BitSpan x, bool is_signed);
// The constant whose two's complement has the lowest bits `low`. Fails: UsageError if it does not
// fit, naming it.
TINYOT_API void set_constant(std::span<Bit> out, std::uint64_t low, bool is_negative,
                             bool is_signed);
[[noreturn]] TINYOT_API void refuse_widths(const char* operation, std::size_t x, std::size_t y);
[[noreturn]] TINYOT_API void refuse_shift(std::int64_t count);
inline void require_same_width(const char* operation, std::size_t x, std::size_t y) {
  if (x != y) refuse_widths(operation, x, y);
}

}  // namespace tinyot::circuit
