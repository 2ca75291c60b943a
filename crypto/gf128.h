// GF(2^128) = GF(2)[X] / (X^128 + X^7 + X^2 + X + 1), bit i of a block being the coefficient of
// X^i; addition is XOR.
//
// Timing: constant.
#pragma once

#include <span>

#include "base/block.h"

namespace tinyot::crypto {

// An unreduced sum of products: a polynomial of degree below 255.
struct WideBlock {
  Block low;   // coefficients of X^0 .. X^127
  Block high;  // of X^128 .. X^255
};

// sum += sum over j of a[j].b[j].  Shapes: a and b of equal length.
void add_products(std::span<const Block> a, std::span<const Block> b, WideBlock& sum);

// The field element.
Block reduced(const WideBlock& sum);

}  // namespace tinyot::crypto
