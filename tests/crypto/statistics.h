// Pearson's statistic, and a bound that a uniform source exceeds about once in a million trials.
#pragma once

#include <cmath>
#include <vector>

#include "tests/support/layers.h"

namespace tinyot::test {

inline double chi_square(const std::vector<double>& observed) {
  double total = 0, sum = 0;
  for (const double count : observed) total += count;
  const double expected = total / static_cast<double>(observed.size());
  for (const double count : observed) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

inline double chi_square_bound(std::size_t cells) {
  const double freedom = static_cast<double>(cells) - 1;
  // The normal approximation of Wilson and Hilferty at five standard deviations.
  const double root = 1 - 2 / (9 * freedom) + 5 * std::sqrt(2 / (9 * freedom));
  return freedom * root * root * root;
}

}  // namespace tinyot::test
