// Sums of products in GF(2^128) for processors with VPCLMULQDQ on 256 bits but without AVX-512, for
// which Highway has no target.
#pragma once

#include <cstddef>

#include "crypto/gf128.h"

namespace tinyot::crypto::vpclmul {

bool is_usable();

// As crypto::add_products, for whole pairs of blocks; returns the number of blocks processed.
std::size_t add_products(const Block* a, const Block* b, std::size_t blocks, WideBlock& sum);

}  // namespace tinyot::crypto::vpclmul
