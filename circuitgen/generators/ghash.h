// GHASH of GCM (NIST SP 800-38D, section 6.4) as a circuit: a polynomial in the secret H over
// GF(2^128).
//
// A product by Karatsuba's method down to single bits: 3^7 = 2,187 ANDs at AND-depth 1, and about
// 10,000 XORs. What depends on H alone, its sums in the recursion, is computed once. Squares are
// linear, so even powers of H take no ANDs.
//
// t blocks are added at a time with t powers of H: one product per block, at AND-depth 1 for t
// blocks, and t / 2 - 1 products for the odd powers. t is 2, and from 64 blocks on up to 16, so
// that the powers are less than 3% of the products.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "circuitgen/generators/aes.h"

namespace tinyot::circuit {

// An element of GF(2)[X] / (X^128 + X^7 + X^2 + X + 1): bit i is the coefficient of X^i.
using GhashElement = Word<128>;

class Ghash {
 public:
  // For a string of `blocks` blocks.
  Ghash(const AesState& h, std::uint64_t blocks);
  void add(const AesState& block);
  // Requires that all blocks have been added.
  AesState digest() const;

 private:
  static constexpr std::size_t kPowersMax = 16;

  std::uint64_t left_;               // blocks that have not been added
  std::vector<Bits> powers_;         // [i]: the sums of Karatsuba's method of H^(i + 1)
  std::vector<GhashElement> group_;  // blocks to be added together
  GhashElement digest_;
};

}  // namespace tinyot::circuit
