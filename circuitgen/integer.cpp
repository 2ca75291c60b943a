#include "tinyot/circuit/integer.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

namespace tinyot::circuit {
namespace {

void require_widths(const char* function, std::size_t out, BitSpan x, BitSpan y) {
  require_same_width(function, x.size(), y.size());
  if (out != x.size())
    throw UsageError(std::string("the result of ") + function + " has " + std::to_string(out) +
                     " bits, and its operands " + std::to_string(x.size()));
}

// A copy, since results may be written where x is.
Bit sign_of(BitSpan x) { return x.back(); }

// Ripple adder or subtracter; the last carry is not computed.
template <auto full>
void ripple(const char* function, std::span<Bit> out, BitSpan x, BitSpan y, Bit carry = {}) {
  require_widths(function, out.size(), x, y);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (i + 1 == out.size()) {
      out[i] = x[i] ^ carry ^ y[i];
    } else {
      Digit digit = full(x[i], y[i], carry);
      out[i] = std::move(digit.value);
      carry = std::move(digit.carry);
    }
  }
}

// One stage for each bit of the count; the bits that shift everything out are combined into one.
template <class Shift>
void shift_by_secret(std::span<Bit> out, BitSpan x, BitSpan count, Shift shift) {
  require_widths("a shift", out.size(), x, x);
  const std::size_t stages = std::min<std::size_t>(
      count.size(), static_cast<std::size_t>(std::bit_width(x.size() - (x.empty() ? 0 : 1))));
  Bits value(x.begin(), x.end()), shifted(x.size());
  for (std::size_t i = 0; i < stages; ++i) {
    shift(shifted, value, std::size_t{1} << i);
    select(value, count[i], shifted, value);
  }
  if (stages < count.size()) {
    const Bit keep = ~any(count.subspan(stages));
    for (Bit& bit : value) bit &= keep;
  }
  std::move(value.begin(), value.end(), out.begin());
}

// x with a bit added to each of its bits.
Bits xored(BitSpan x, const Bit& bit) {
  Bits result(x.begin(), x.end());
  for (Bit& one : result) one ^= bit;
  return result;
}

}  // namespace

void refuse_widths(const char* operation, std::size_t x, std::size_t y) {
  throw UsageError(std::string("the operands of ") + operation + " have " + std::to_string(x) +
                   " and " + std::to_string(y) +
                   " bits: convert one of them with to_unsigned or to_signed");
}

void refuse_shift(std::int64_t count) {
  throw UsageError("the count of a shift is negative: " + std::to_string(count));
}

void extend(std::span<Bit> out, BitSpan x, bool is_signed) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (i < x.size())
      out[i] = x[i];
    else
      out[i] = is_signed && !x.empty() ? x.back() : Bit();
  }
}

void set_constant(std::span<Bit> out, std::uint64_t low, bool is_negative, bool is_signed) {
  const std::size_t n = out.size();
  // Bits that differ from those above all of them.
  const auto used = static_cast<std::size_t>(std::bit_width(is_negative ? ~low : low));
  if ((is_negative && !is_signed) || used + (is_signed ? 1 : 0) > n) {
    const std::string value =
        is_negative ? std::to_string(static_cast<std::int64_t>(low)) : std::to_string(low);
    throw UsageError(value + " is not a value of " + (is_signed ? "a signed" : "an unsigned") +
                     " integer of " + std::to_string(n) + " bits");
  }
  for (std::size_t i = 0; i < n; ++i) out[i] = Bit(i < 64 ? ((low >> i) & 1) != 0 : is_negative);
}

Digit full_add(const Bit& x, const Bit& y, const Bit& carry) {
  const Bit x_differs = x ^ carry, y_differs = y ^ carry;
  return {x_differs ^ y, carry ^ (x_differs & y_differs)};
}

Digit full_subtract(const Bit& x, const Bit& y, const Bit& borrow) {
  const Bit x_differs = x ^ borrow, y_differs = y ^ borrow;
  return {x_differs ^ y, y ^ (x_differs & y_differs)};
}

Bit next_borrow(const Bit& x, const Bit& y, const Bit& borrow) {
  const Bit y_differs = y ^ borrow;
  return y ^ ((x ^ borrow) & y_differs);
}

Bit select(const Bit& condition, const Bit& x, const Bit& y) { return y ^ (condition & (x ^ y)); }

void select(std::span<Bit> out, const Bit& condition, BitSpan x, BitSpan y) {
  require_widths("select", out.size(), x, y);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = select(condition, x[i], y[i]);
}

void exchange(const Bit& condition, std::span<Bit> x, std::span<Bit> y) {
  require_same_width("exchange", x.size(), y.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Bit change = condition & (x[i] ^ y[i]);
    x[i] ^= change;
    y[i] ^= change;
  }
}

void add(std::span<Bit> out, BitSpan x, BitSpan y) { ripple<full_add>("add", out, x, y); }

void subtract(std::span<Bit> out, BitSpan x, BitSpan y) {
  ripple<full_subtract>("subtract", out, x, y);
}

void carry_save(std::span<Bit> sum, std::span<Bit> carries, BitSpan x, BitSpan y, BitSpan z) {
  require_widths("carry_save", sum.size(), x, y);
  require_widths("carry_save", carries.size(), x, z);
  Bit carry;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    Digit digit = i + 1 < sum.size() ? full_add(x[i], y[i], z[i]) : Digit{x[i] ^ y[i] ^ z[i], {}};
    sum[i] = std::move(digit.value);
    carries[i] = std::exchange(carry, std::move(digit.carry));
  }
}

void multiply(std::span<Bit> out, BitSpan x, BitSpan y) {
  BitSum sum(out.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < y.size() && i + j < out.size(); ++j) sum.add(x[i] & y[j], i + j);
  }
  Bits product = std::move(sum).total();
  std::move(product.begin(), product.end(), out.begin());
}

// Non-restoring division: a subtraction that was too large is made good by adding y in the next
// step, so a step takes one addition and no selection. After step k, `rest` is the partial
// remainder, or that less y if `is_negative`, as a signed number. A partial remainder of k + 1 <= m
// bits is compared with as many bits of y; if y has higher bits, the difference is negative.
void divide(std::span<Bit> quotient, std::span<Bit> remainder, BitSpan x, BitSpan y) {
  const std::size_t n = x.size(), m = y.size();
  if (!quotient.empty()) require_widths("divide", quotient.size(), x, x);
  if (!remainder.empty()) require_widths("divide", remainder.size(), y, y);
  Bits higher(m + 1);  // [i]: whether y >= 2^i
  const std::size_t lowest = n > m ? 0 : 1;
  for (std::size_t i = m; i-- > lowest;) higher[i] = higher[i + 1] | y[i];

  Bits rest, divisor(y.begin(), y.end()), digits(n);
  divisor.emplace_back();
  Bit is_negative;
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t width = std::min(k + 1, m);
    rest.insert(rest.begin(), x[n - 1 - k]);
    rest.resize(width + 1);
    Bits addend(divisor.begin(), divisor.begin() + static_cast<std::ptrdiff_t>(width) + 1);
    for (Bit& bit : addend) bit ^= ~is_negative;
    Bit carry = ~is_negative;
    for (std::size_t i = 0; i < width; ++i) {
      Digit digit = full_add(rest[i], addend[i], carry);
      rest[i] = std::move(digit.value);
      carry = std::move(digit.carry);
    }
    rest[width] ^= addend[width] ^ carry;
    // Without bits of y above these, the sign is the highest bit. y = 0 subtracts nothing.
    is_negative = k < m ? higher[width] | rest[width] : higher[0] & rest[width];
    if (!quotient.empty()) digits[n - 1 - k] = ~is_negative;
  }
  if (!remainder.empty()) {
    const std::size_t width = std::min(n, m);  // the remainder is not larger than x
    for (std::size_t i = 0; i < width; ++i) divisor[i] &= is_negative;
    add(remainder.first(width), BitSpan(rest).first(width), BitSpan(divisor).first(width));
    for (std::size_t i = width; i < m; ++i) remainder[i] = Bit();
  }
  if (!quotient.empty()) std::move(digits.begin(), digits.end(), quotient.begin());
}

void magnitude(std::span<Bit> out, BitSpan x) {
  if (x.empty()) return;
  const Bit sign = sign_of(x);
  ripple<full_add>("magnitude", out, xored(x, sign), Bits(x.size()), sign);
}

// Of magnitudes first. If the signs differ, the quotient q becomes -q, or -q - 1 if there is a
// remainder, since it is rounded down: ~q is -q - 1, so a carry decides. The remainder gets the
// sign of x, and y is added if the quotient was rounded.
void divide_signed(std::span<Bit> quotient, std::span<Bit> remainder, BitSpan x, BitSpan y) {
  const std::size_t n = x.size();
  require_same_width("divide_signed", n, y.size());
  if (n == 0) return;
  Bits x_size(n), y_size(n), whole(n), rest(n);
  magnitude(x_size, x);
  magnitude(y_size, y);
  divide(quotient.empty() ? std::span<Bit>() : whole, rest, x_size, y_size);
  const Bit x_sign = sign_of(x), signs_differ = x.back() ^ y.back();
  const Bit is_rounded = signs_differ & any(rest);
  if (!remainder.empty()) {
    Bits addend(y.begin(), y.end());
    for (Bit& bit : addend) bit &= is_rounded;
    ripple<full_add>("divide_signed", remainder, xored(rest, x_sign), addend, x_sign);
  }
  if (quotient.empty()) return;
  const Bit carry = signs_differ ^ is_rounded;
  ripple<full_add>("divide_signed", quotient, xored(whole, signs_differ), Bits(n), carry);
}

Bit less(BitSpan x, BitSpan y) {
  require_same_width("less", x.size(), y.size());
  Bit borrow;
  for (std::size_t i = 0; i < x.size(); ++i) borrow = next_borrow(x[i], y[i], borrow);
  return borrow;
}

// With the highest bits exchanged: where they differ, they decide the other way round.
Bit less_signed(BitSpan x, BitSpan y) {
  require_same_width("less_signed", x.size(), y.size());
  if (x.empty()) return Bit();
  Bits low(x.begin(), x.end()), high(y.begin(), y.end());
  std::swap(low.back(), high.back());
  return less(low, high);
}

Bit any(BitSpan x) {
  if (x.size() < 2) return x.empty() ? Bit(false) : x[0];
  const Bit upper = any(x.subspan(x.size() / 2));
  return any(x.first(x.size() / 2)) | upper;
}

Bit all(BitSpan x) {
  if (x.size() < 2) return x.empty() ? Bit(true) : x[0];
  const Bit upper = all(x.subspan(x.size() / 2));
  return all(x.first(x.size() / 2)) & upper;
}

Bit all(BitSpan x, std::size_t arity) {
  if (arity < 2 || arity > kGroupInputsMax)
    throw UsageError("an AND has 2 to " + std::to_string(kGroupInputsMax) + " inputs, not " +
                     std::to_string(arity));
  if (x.size() < 2) return all(x);
  Bits results;
  for (std::size_t first = 0; first < x.size(); first += arity) {
    const BitSpan some = x.subspan(first, std::min(arity, x.size() - first));
    results.push_back(some.size() > 2 ? group_of(some, [&] { return all(some); }) : all(some));
  }
  return all(results, arity);
}

Bit differ(BitSpan x, BitSpan y) {
  require_same_width("equal", x.size(), y.size());
  if (x.size() < 2) return x.empty() ? Bit(false) : x[0] ^ y[0];
  const std::size_t half = x.size() / 2;
  const Bit upper = differ(x.subspan(half), y.subspan(half));
  return differ(x.first(half), y.first(half)) | upper;
}

Bit equal(BitSpan x, BitSpan y) { return ~differ(x, y); }

void shift_left(std::span<Bit> out, BitSpan x, std::size_t count) {
  require_widths("a shift", out.size(), x, x);
  for (std::size_t i = out.size(); i-- > 0;) out[i] = i >= count ? x[i - count] : Bit();
}

void shift_right(std::span<Bit> out, BitSpan x, std::size_t count) {
  require_widths("a shift", out.size(), x, x);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = count < out.size() - i ? x[i + count] : Bit();
}

void shift_left(std::span<Bit> out, BitSpan x, BitSpan count) {
  shift_by_secret(out, x, count, [](std::span<Bit> to, BitSpan from, std::size_t by) {
    shift_left(to, from, by);
  });
}

void shift_right(std::span<Bit> out, BitSpan x, BitSpan count) {
  shift_by_secret(out, x, count, [](std::span<Bit> to, BitSpan from, std::size_t by) {
    shift_right(to, from, by);
  });
}

void shift_right_signed(std::span<Bit> out, BitSpan x, std::size_t count) {
  require_widths("a shift", out.size(), x, x);
  if (x.empty()) return;
  const Bit sign = sign_of(x);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = count < out.size() - i ? x[i + count] : sign;
}

// The sign is added to all bits before and afterwards, so that zeros are shifted in.
void shift_right_signed(std::span<Bit> out, BitSpan x, BitSpan count) {
  if (x.empty()) return;
  const Bit sign = sign_of(x);
  shift_right(out, xored(x, sign), count);
  for (Bit& bit : out) bit ^= sign;
}

Bits population_count(BitSpan x) {
  BitSum sum(static_cast<std::size_t>(std::bit_width(x.size())));
  for (const Bit& bit : x) sum.add(bit);
  return std::move(sum).total();
}

void look_up(std::span<Bit> out, std::span<const std::uint64_t> table, BitSpan index) {
  if (index.size() > 16 || table.size() != std::size_t{1} << index.size())
    throw UsageError("the table has " + std::to_string(table.size()) + " entries, and the index " +
                     std::to_string(index.size()) +
                     " bits, of at most 16: a table has 2^bits entries");
  if (out.size() > 64)
    throw UsageError("the entries of a table have at most 64 bits, not " +
                     std::to_string(out.size()));
  // products[s] is the product of the index bits in the set s, from those of its halves;
  // coefficients[s] has the output bits in which it occurs.
  Bits products = {Bit(true)};
  for (std::size_t s = 1; s < table.size(); ++s) {
    std::size_t high = s;
    for (int i = std::popcount(s) / 2; i > 0; --i) high &= high - 1;
    if (high == s)
      products.push_back(index[static_cast<std::size_t>(std::countr_zero(s))]);
    else
      products.push_back(products[high] & products[s ^ high]);
  }
  std::vector<std::uint64_t> coefficients(table.begin(), table.end());
  for (std::size_t i = 0; i < index.size(); ++i) {
    const std::size_t bit = std::size_t{1} << i;
    for (std::size_t s = 0; s < table.size(); ++s) {
      if ((s & bit) != 0) coefficients[s] ^= coefficients[s ^ bit];
    }
  }
  for (std::size_t j = 0; j < out.size(); ++j) {
    Bit sum;
    for (std::size_t s = 0; s < table.size(); ++s) {
      if (((coefficients[s] >> j) & 1) != 0) sum ^= products[s];
    }
    out[j] = std::move(sum);
  }
}

void BitSum::add(Bit bit, std::size_t place) {
  if (place >= columns_.size() || (bit.is_constant() && !bit.constant())) return;
  columns_[place].push_back(std::move(bit));
  if (columns_[place].size() >= kHeld) compress(place, 2);
}

// Adds the bits of one column, three at a time, with all triples of a pass in parallel, until at
// most `keep` remain: 2, or 1 with a half adder at the end. Carries out of the highest column are
// not computed.
void BitSum::compress(std::size_t place, std::size_t keep) {
  const bool highest = place + 1 == columns_.size();
  Bits bits = std::exchange(columns_[place], {});
  while (bits.size() > keep) {
    Bits sums;
    std::size_t i = 0;
    while (bits.size() - i >= 3 || (i == 0 && bits.size() == 2)) {
      const Bit z = bits.size() == 2 ? Bit() : bits[i + 2];
      Digit digit =
          highest ? Digit{bits[i] ^ bits[i + 1] ^ z, {}} : full_add(bits[i], bits[i + 1], z);
      sums.push_back(std::move(digit.value));
      if (!highest) add(std::move(digit.carry), place + 1);
      i += bits.size() == 2 ? 2 : 3;
    }
    for (; i < bits.size(); ++i) sums.push_back(std::move(bits[i]));
    bits = std::move(sums);
  }
  columns_[place] = std::move(bits);
}

Bits BitSum::total() && {
  Bits result;
  for (std::size_t place = 0; place < columns_.size(); ++place) {
    compress(place, 1);
    result.push_back(columns_[place].empty() ? Bit() : std::move(columns_[place][0]));
  }
  return result;
}

}  // namespace tinyot::circuit
