// GHASH of GCM (NIST SP 800-38D, section 6.4) as a circuit: a polynomial in the secret H over
// GF(2^128).
//
// A product takes 698 ANDs at AND-depth 1 (field_product.h). What depends on H alone is computed
// once. Squares are linear, so even powers of H take no ANDs.
//
// t blocks are added at a time with t powers of H: one product per block, at AND-depth 1 for t
// blocks, and t / 2 - 1 products for the odd powers. The linear part after the ANDs is computed
// once for t blocks. t is 2, and from 32 blocks on up to 16, so that the powers are less than 6% of
// the products.
#pragma once

#include <cstdint>
#include <vector>

#include "circuitgen/generators/aes.h"
#include "circuitgen/generators/field_product.h"

namespace tinyot::circuit {

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
  std::vector<Bits> powers_;         // [i]: the factors of H^(i + 1)
  std::vector<FieldElement> group_;  // blocks to be added together
  FieldElement digest_;
};

}  // namespace tinyot::circuit
