#include "circuitgen/generators/ghash.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace tinyot::circuit {
namespace {

// SP 800-38D, section 6.3: the first bit of a block is the highest of its first byte.
std::size_t bit_in_byte(std::size_t i) { return 7 - i % 8; }

FieldElement element_of(const AesState& block) {
  FieldElement x;
  for (std::size_t i = 0; i < 128; ++i) x[i] = block[i / 8][bit_in_byte(i)];
  return x;
}

// Adds the products of bits of x . y.
void add_products(Bits& sums, const FieldElement& x, const Bits& factors_of_y) {
  const Bits factors = field_factors(x);
  sums.resize(factors.size());
  for (std::size_t r = 0; r < factors.size(); ++r) sums[r] ^= factors[r] & factors_of_y[r];
}

std::size_t powers_for(std::uint64_t blocks, std::size_t most) {
  std::size_t powers = 2;
  while (powers < most && 16 * powers <= blocks) powers *= 2;
  return static_cast<std::size_t>(std::min<std::uint64_t>(powers, blocks));
}

}  // namespace

Ghash::Ghash(const AesState& h, std::uint64_t blocks) : left_(blocks) {
  std::vector<FieldElement> powers = {element_of(h)};
  powers_.push_back(field_factors(powers[0]));
  for (std::size_t e = 2; e <= powers_for(blocks, kPowersMax); ++e) {
    if (e % 2 == 0) {
      powers.push_back(field_square(powers[e / 2 - 1]));
    } else {
      Bits products;
      add_products(products, powers[e - 2], powers_[0]);
      powers.push_back(field_element(products));
    }
    powers_.push_back(field_factors(powers.back()));
  }
}

// Blocks X_1, ..., X_s change the digest Y to (Y + X_1) H^s + X_2 H^(s - 1) + ... + X_s H. The
// first group is the one that may be incomplete.
void Ghash::add(const AesState& block) {
  ENSURE(left_ > 0);
  group_.push_back(element_of(block));
  if (--left_ % powers_.size() != 0) return;
  group_[0] ^= digest_;
  Bits products;
  for (std::size_t i = 0; i < group_.size(); ++i)
    add_products(products, group_[i], powers_[group_.size() - 1 - i]);
  digest_ = field_element(products);
  group_.clear();
}

AesState Ghash::digest() const {
  ENSURE(left_ == 0);
  AesState block;
  for (std::size_t i = 0; i < 128; ++i) block[i / 8][bit_in_byte(i)] = digest_[i];
  return block;
}

}  // namespace tinyot::circuit
