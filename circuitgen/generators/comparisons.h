// Circuits of comparisons: one AND per bit and comparison.
//
//   millionaires
//     parameters  bits, and those of ValueOrder
//     inputs      a (bits, A), b (bits, B)
//     output      a_has_more (1, to both): a > b
//
//   comparisons
//     parameters  rows, columns, bits, and those of ValueOrder
//     inputs      a (rows . bits, A), b (columns . bits, B): value k begins at bit k . bits
//     output      less (rows . columns, to both): bit i . columns + j is a_i < b_j
#pragma once

#include "circuitgen/generators/family.h"

namespace tinyot::circuit {

CircuitFamily millionaires_family();
CircuitFamily comparisons_family();

}  // namespace tinyot::circuit
