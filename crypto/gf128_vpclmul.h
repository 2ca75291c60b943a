// Sums of products in GF(2^128) for processors with VPCLMULQDQ on 256 bits but without AVX-512, a
// combination that has no Highway target.
#pragma once

#include <cstddef>

#include "crypto/gf128.h"

namespace tinyot::crypto::vpclmul {

// Whether this processor has it.
bool is_usable();

// As add_products, for the first whole pairs of blocks; returns how many blocks that were.
std::size_t add_products(const Block* a, const Block* b, std::size_t blocks, WideBlock& sum);

}  // namespace tinyot::crypto::vpclmul
