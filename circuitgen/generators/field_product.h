// Products in GF(2^128) = GF(2)[X] / (X^128 + X^7 + X^2 + X + 1) with few ANDs, at AND-depth 1.
//
// A product of polynomials by evaluation and interpolation: both factors are reduced modulo small
// polynomials whose degrees sum to 255, the residues are multiplied, and the product is linear in
// those. The moduli are X^3, and X^3 of the reversed polynomials, X + 1, all irreducible
// polynomials of degrees 2 to 6, and 18 of degree 8. A product of residues of degree 2, 3, 4, 5, 6,
// 8 is linear in 3, 6, 9, 13, 15, 24 products of bits, and one modulo X^3 in 5: 698 ANDs.
// Karatsuba's method takes 3^7 = 2,187.
//
// Source: D. V. Chudnovsky, G. V. Chudnovsky, "Algebraic complexities and algebraic curves over
// finite fields", J. Complexity 4 (1988), for the projective line. Degree 4 is Karatsuba's method,
// degree 5 of the kind of Montgomery, "Five, six, and seven-term Karatsuba-like formulae", IEEE
// Trans. Computers 54 (2005); degrees 6 and 8 are polynomials over GF(4) of 3 and 4 coefficients,
// by 5 and 8 products in GF(4).
#pragma once

#include "tinyot/circuit/operators.h"

namespace tinyot::circuit {

// Bit i is the coefficient of X^i.
using FieldElement = Word<128>;

// The factors of products of bits, linear in x: about 7,700 XORs.
Bits field_factors(const FieldElement& x);

// x . y, if products[r] is field_factors(x)[r] & field_factors(y)[r]; linear, so that sums of these
// yield a sum of products. About 9,700 XORs.
FieldElement field_element(BitSpan products);

// No ANDs, and about 200 XORs.
FieldElement field_square(const FieldElement& x);

}  // namespace tinyot::circuit
