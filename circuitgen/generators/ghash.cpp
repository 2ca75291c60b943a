#include "circuitgen/generators/ghash.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace tinyot::circuit {
namespace {

// SP 800-38D, section 6.3: the first bit of a block is the highest of its first byte.
std::size_t bit_in_byte(std::size_t i) { return 7 - i % 8; }

GhashElement element_of(const AesState& block) {
  GhashElement x;
  for (std::size_t i = 0; i < 128; ++i) x[i] = block[i / 8][bit_in_byte(i)];
  return x;
}

Bits sum_of_halves(BitSpan x) {
  Bits sum(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2));
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] ^= x[sum.size() + i];
  return sum;
}

// The factors on one side of all products of bits, in the order in which karatsuba() reads them.
void append_factors(Bits& factors, BitSpan x) {
  if (x.size() == 1) return factors.push_back(x[0]);
  append_factors(factors, x.first(x.size() / 2));
  append_factors(factors, x.subspan(x.size() / 2));
  append_factors(factors, sum_of_halves(x));
}

// The product of two polynomials of x.size() coefficients, a power of two: x0 y0 + X^half ((x0 +
// x1) (y0 + y1) + x0 y0 + x1 y1) + X^(2 half) x1 y1. Consumes the factors of y.
Bits karatsuba(BitSpan x, BitSpan& factors) {
  if (x.size() == 1) {
    Bits product = {x[0] & factors[0]};
    factors = factors.subspan(1);
    return product;
  }
  const std::size_t half = x.size() / 2;
  const Bits low = karatsuba(x.first(half), factors), high = karatsuba(x.subspan(half), factors);
  Bits middle = karatsuba(sum_of_halves(x), factors);
  Bits product(2 * x.size() - 1);
  for (std::size_t i = 0; i < middle.size(); ++i) {
    product[i] ^= low[i];
    product[i + 2 * half] ^= high[i];
    middle[i] ^= low[i] ^ high[i];
  }
  for (std::size_t i = 0; i < middle.size(); ++i) product[i + half] ^= middle[i];
  return product;
}

GhashElement reduced(Bits polynomial) {
  for (std::size_t i = polynomial.size(); i-- > 128;) {
    for (const std::size_t place : {0, 1, 2, 7}) polynomial[i - 128 + place] ^= polynomial[i];
  }
  return GhashElement(BitSpan(polynomial).first(128));
}

GhashElement square_of(const GhashElement& x) {
  Bits square(255);
  for (std::size_t i = 0; i < 128; ++i) square[2 * i] = x[i];
  return reduced(std::move(square));
}

Bits factors_of(const GhashElement& x) {
  Bits factors;
  append_factors(factors, x);
  return factors;
}

std::size_t powers_for(std::uint64_t blocks, std::size_t most) {
  std::size_t powers = 2;
  while (powers < most && 32 * powers <= blocks) powers *= 2;
  return static_cast<std::size_t>(std::min<std::uint64_t>(powers, blocks));
}

}  // namespace

Ghash::Ghash(const AesState& h, std::uint64_t blocks) : left_(blocks) {
  std::vector<GhashElement> powers = {element_of(h)};
  powers_.push_back(factors_of(powers[0]));
  for (std::size_t e = 2; e <= powers_for(blocks, kPowersMax); ++e) {
    if (e % 2 == 0) {
      powers.push_back(square_of(powers[e / 2 - 1]));
    } else {
      BitSpan factors = powers_[0];
      powers.push_back(reduced(karatsuba(powers[e - 2], factors)));
    }
    powers_.push_back(factors_of(powers.back()));
  }
}

// Blocks X_1, ..., X_s change the digest Y to (Y + X_1) H^s + X_2 H^(s - 1) + ... + X_s H. The
// first group is the one that may be incomplete.
void Ghash::add(const AesState& block) {
  ENSURE(left_ > 0);
  group_.push_back(element_of(block));
  if (--left_ % powers_.size() != 0) return;
  group_[0] ^= digest_;
  Bits sum(255);
  for (std::size_t i = 0; i < group_.size(); ++i) {
    BitSpan factors = powers_[group_.size() - 1 - i];
    const Bits product = karatsuba(group_[i], factors);
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] ^= product[k];
  }
  digest_ = reduced(std::move(sum));
  group_.clear();
}

AesState Ghash::digest() const {
  ENSURE(left_ == 0);
  AesState block;
  for (std::size_t i = 0; i < 128; ++i) block[i / 8][bit_in_byte(i)] = digest_[i];
  return block;
}

}  // namespace tinyot::circuit
