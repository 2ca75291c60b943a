#include "base/risk.h"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>

#include "base/error.h"

namespace tinyot {
namespace {

using Integer = boost::multiprecision::cpp_int;

constexpr unsigned kScaleBits = 192;
constexpr std::uint64_t kRoundings = std::uint64_t{1} << 20;

Risk saturated() { return {{~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}}}; }

Risk in_units(const Integer& units) {
  if ((units >> kScaleBits) != 0) return saturated();
  Risk risk;
  for (std::size_t i = 0; i < risk.words.size(); ++i)
    risk.words[i] = static_cast<std::uint64_t>((units >> (64 * i)) & ~std::uint64_t{0});
  return risk;
}

// A fraction in units of 2^-192.
Risk rounded_up(const Integer& numerator, const Integer& denominator) {
  return in_units(((numerator << kScaleBits) + denominator - 1) / denominator);
}

Integer binomial(const Integer& n, std::uint64_t k) {
  Integer value = 1;
  for (std::uint64_t i = 0; i < k; ++i) value = value * (n - i) / (i + 1);
  return value;
}

}  // namespace

Risk& Risk::operator+=(const Risk& other) {
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint64_t sum = words[i] + other.words[i], with_carry = sum + carry;
    carry = (sum < words[i]) | (with_carry < sum);
    words[i] = with_carry;
  }
  if (carry != 0) *this = saturated();
  return *this;
}

Risk& Risk::operator-=(const Risk& other) {
  ENSURE(other <= *this);
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint64_t difference = words[i] - other.words[i], with_borrow = difference - borrow;
    borrow = (difference > words[i]) | (with_borrow > difference);
    words[i] = with_borrow;
  }
  return *this;
}

std::strong_ordering operator<=>(const Risk& a, const Risk& b) {
  return std::lexicographical_compare_three_way(a.words.rbegin(), a.words.rend(), b.words.rbegin(),
                                                b.words.rend());
}

double as_double(const Risk& risk) {
  double value = 0;
  for (const std::uint64_t word : risk.words)
    value = std::ldexp(value + static_cast<double>(word), -64);
  return value;
}

Risk risk_of_layers(std::uint64_t l, std::uint32_t bucket) {
  // 2^-B l^(1-B) / (1 - 2^-B) = 1 / (l^(B-1) (2^B - 1))
  return rounded_up(
      1, boost::multiprecision::pow(Integer(l), bucket - 1) * ((Integer(1) << bucket) - 1));
}

Risk risk_of_permutation(std::uint64_t l, std::uint32_t bucket) {
  const Integer objects = Integer(l) * bucket, sets = binomial(objects, bucket);
  Risk most;
  // From t = 2B - 1 on, a further attack multiplies C(t,B) by at most 2 and halves the probability
  // of survival.
  for (std::uint64_t t = bucket; t <= 2 * bucket && t <= objects; ++t)
    most = std::max(most, rounded_up(l * binomial(t, bucket), sets * ((Integer(1) << t) - 1)));
  return most;
}

Risk risk_limit(std::uint32_t sigma, std::uint32_t shards) {
  return in_units(((Integer(1) << (kScaleBits - sigma)) + kRoundings) / shards);
}

}  // namespace tinyot
