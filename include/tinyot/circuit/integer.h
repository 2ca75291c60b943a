// Unsigned integers as spans of bits, bit 0 the lowest: the arithmetic that tinyot/circuit/word.h
// wraps into types.
//
// The functions minimise ANDs first, then depth, then XORs. In the stated costs, n is the width of
// the operands. The spans of one call have the same width unless stated otherwise; `out` may be one
// of the operands. Fails: std::logic_error on wrong widths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tinyot/circuit/builder.h"

namespace tinyot::circuit {

// One bit of an adder or a subtractor: one AND each.
struct Digit {
  Bit value;
  Bit carry;  // or borrow
};
Digit full_add(const Bit& x, const Bit& y, const Bit& carry);        // x + y + carry
Digit full_subtract(const Bit& x, const Bit& y, const Bit& borrow);  // x - y - borrow
Bit next_borrow(const Bit& x, const Bit& y, const Bit& borrow);      // of x - y - borrow alone

// condition ? x : y. One AND per bit.
Bit select(const Bit& condition, const Bit& x, const Bit& y);
void select(std::span<Bit> out, const Bit& condition, BitSpan x, BitSpan y);

// Swaps x and y if `condition` is 1. One AND per bit.
void exchange(const Bit& condition, std::span<Bit> x, std::span<Bit> y);

// Modulo 2^n: n - 1 ANDs at depth n - 1.
void add(std::span<Bit> out, BitSpan x, BitSpan y);
void subtract(std::span<Bit> out, BitSpan x, BitSpan y);

// x + y + z = sum + carries modulo 2^n, without carry propagation: n - 1 ANDs at depth 1.
void carry_save(std::span<Bit> sum, std::span<Bit> carries, BitSpan x, BitSpan y, BitSpan z);

// Modulo 2^out.size(); x and y of any width. Sums all products of two bits, place by place: at most
// 2 n^2 - n ANDs.
void multiply(std::span<Bit> out, BitSpan x, BitSpan y);

// x / y and x % y; y = 0 gives all ones and the low bits of x. `quotient` has the width n of x;
// `remainder` has the width m of y, or is empty. With k = min(n, m), the quotient takes at most
// n k - k (k - 1) / 2 + n + m - 2 ANDs (and at least 1), the remainder 2 k - 1 more; the depth is
// of the same order.
void divide(std::span<Bit> quotient, std::span<Bit> remainder, BitSpan x, BitSpan y);

Bit less(BitSpan x, BitSpan y);    // x < y: n ANDs at depth n
Bit equal(BitSpan x, BitSpan y);   // n - 1 ANDs at depth log n, as the next three:
Bit differ(BitSpan x, BitSpan y);  // not equal
Bit any(BitSpan x);                // some bit is 1
Bit all(BitSpan x);                // no bit is 0

// Shifts towards the high and towards the low bits by any count, filling with zeros. A public count
// costs nothing. A secret count of any width costs n ANDs for each of its lowest ceil(log2 n) bits;
// if it has further bits, n ANDs in total and one for each of them.
void shift_left(std::span<Bit> out, BitSpan x, std::size_t count);
void shift_right(std::span<Bit> out, BitSpan x, std::size_t count);
void shift_left(std::span<Bit> out, BitSpan x, BitSpan count);
void shift_right(std::span<Bit> out, BitSpan x, BitSpan count);

// The number of 1 bits, as bit_width(n) bits: n - popcount(n) ANDs.
// Source: Boyar, Peralta, "Tight bounds for the multiplicative complexity of symmetric functions",
// TCS 396 (2008).
Bits population_count(BitSpan x);

// Bit j of table[index] for j < out.size(), from a public table of 2^index.size() entries: 2^n - n
// - 1 ANDs at depth log n for n index bits, for any width of the entries. At most 16 index bits.
void look_up(std::span<Bit> out, std::span<const std::uint64_t> table, BitSpan index);

// A sum of single bits, each weighted by a power of two. Full adders compress the bits of one
// weight as soon as kHeld of them are stored, so that a long sum does not store all its bits.
class BitSum {
 public:
  explicit BitSum(std::size_t width) : columns_(width) {}  // modulo 2^width
  void add(Bit bit, std::size_t place = 0);                // of weight 2^place
  Bits total() &&;

 private:
  static constexpr std::size_t kHeld = std::size_t{1} << 12;
  void compress(std::size_t place, std::size_t keep);
  std::vector<Bits> columns_;  // by place
};

}  // namespace tinyot::circuit
