// Functions of up to three bits with the fewest ANDs: 0 for the 16 affine ones, 1 for the 112 of
// degree 2, 2 for the 128 of degree 3.
//
// A function is a byte: bit r is its value on row r, and input i has the value (r >> i) & 1 there.
#pragma once

#include <array>
#include <cstdint>

namespace tinyot::circuit {

// A sum (XOR) of inputs, products and the constant 1, as bits:
inline constexpr std::uint8_t kSumInput[3] = {1, 2, 4};
inline constexpr std::uint8_t kSumOne = 8;
inline constexpr std::uint8_t kSumProduct[2] = {16, 32};

struct AndPlan {
  std::uint8_t ands;  // number of products used
  // of product k: sums of inputs, 1 and products before it
  std::array<std::array<std::uint8_t, 2>, 2> factors;
  std::uint8_t sum;  // the function
};

// Source: a search over all products of sums, run once, in about a millisecond. It finds a plan
// with the fewest ANDs for each function, among those with the fewest XORs, then NOTs.
const AndPlan& and_plan(std::uint8_t function);

}  // namespace tinyot::circuit
