// Functions of three bits with the fewest ANDs: every plan is correct and minimal.
#include "circuitgen/formats/truth_table.h"

#include <gtest/gtest.h>

#include <bit>

#include "tests/support/layers.h"

namespace tinyot {
namespace {

// The degree as a polynomial over the field of two elements: the coefficient of a set of variables
// is the sum of the function over all rows whose ones lie in the set.
int degree_of(unsigned function) {
  int degree = 0;
  for (unsigned set = 0; set < 8; ++set) {
    unsigned coefficient = 0;
    for (unsigned row = 0; row < 8; ++row)
      coefficient ^= (row & ~set) == 0 ? (function >> row) & 1 : 0;
    if (coefficient != 0) degree = std::max(degree, std::popcount(set));
  }
  return degree;
}

bool sum_of(unsigned terms, unsigned row, const std::array<bool, 2>& products) {
  bool value = (terms & kSumOne) != 0;
  for (unsigned i = 0; i < 3; ++i) value ^= (terms & kSumInput[i]) != 0 && ((row >> i) & 1) != 0;
  for (unsigned k = 0; k < 2; ++k) value ^= (terms & kSumProduct[k]) != 0 && products[k];
  return value;
}

TEST(TruthTable, EveryPlanComputesItsFunction) {
  for (unsigned function = 0; function < 256; ++function) {
    const AndPlan& plan = and_plan(static_cast<std::uint8_t>(function));
    ASSERT_LE(plan.ands, 2);
    for (unsigned k = 0; k < plan.ands; ++k) {
      for (const std::uint8_t factor : plan.factors[k])
        EXPECT_LT(factor, kSumProduct[k]) << "a product that depends on itself or a later one";
    }
    EXPECT_EQ(plan.sum >> (4 + plan.ands), 0) << "an undefined product";
    for (unsigned row = 0; row < 8; ++row) {
      std::array<bool, 2> products{};
      for (unsigned k = 0; k < plan.ands; ++k) {
        products[k] =
            sum_of(plan.factors[k][0], row, products) && sum_of(plan.factors[k][1], row, products);
      }
      EXPECT_EQ(sum_of(plan.sum, row, products), ((function >> row) & 1) != 0)
          << function << ", row " << row;
    }
  }
}

// A lower bound: k ANDs yield polynomials of degree at most k + 1, and without an AND there are
// only affine ones.
TEST(TruthTable, EveryPlanHasTheFewestAnds) {
  std::array<int, 4> histogram{};
  for (unsigned function = 0; function < 256; ++function) {
    const AndPlan& plan = and_plan(static_cast<std::uint8_t>(function));
    EXPECT_EQ(plan.ands, std::max(degree_of(function) - 1, 0)) << function;
    ++histogram[plan.ands];
  }
  EXPECT_EQ(histogram, (std::array<int, 4>{16, 112, 128, 0}));
}

TEST(TruthTable, UsesNoIrrelevantInput) {
  for (unsigned function = 0; function < 256; ++function) {
    const AndPlan& plan = and_plan(static_cast<std::uint8_t>(function));
    const unsigned used = plan.sum | plan.factors[0][0] | plan.factors[0][1] | plan.factors[1][0] |
                          plan.factors[1][1];
    for (unsigned i = 0; i < 3; ++i) {
      bool matters = false;
      for (unsigned row = 0; row < 8; ++row)
        matters |= (((function >> row) ^ (function >> (row ^ (1u << i)))) & 1) != 0;
      EXPECT_EQ((used & kSumInput[i]) != 0, matters) << function << ", input " << i;
    }
  }
}

}  // namespace
}  // namespace tinyot
