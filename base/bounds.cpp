#include "base/bounds.h"

#include <algorithm>
#include <cmath>

namespace tinyot {
namespace {

// lgamma() writes the sign to a variable that all threads share.
double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

double log2_binomial(double n, double k) {
  return (log_gamma(n + 1) - log_gamma(k + 1) - log_gamma(n - k + 1)) / std::log(2.0);
}

}  // namespace

std::string BucketSizes::text() const {
  std::string text;
  for (const std::uint32_t size : sizes()) text += (text.empty() ? "" : "+") + std::to_string(size);
  return text;
}

double paper_bound_bits(std::uint64_t l, std::uint32_t bucket) {
  return (std::log2(static_cast<double>(l)) + 1) * (bucket - 1.0);
}

double exact_bound_bits(std::uint64_t l, std::uint32_t bucket) {
  const double b = bucket, objects = b * static_cast<double>(l);
  const double attacked = std::min(2 * b - 1, objects);
  return attacked - std::log2(static_cast<double>(l)) - log2_binomial(attacked, b) +
         log2_binomial(objects, b);
}

double layers_bound_bits(std::uint64_t l, std::uint32_t bucket) {
  return bucket + (bucket - 1.0) * std::log2(static_cast<double>(l));
}

}  // namespace tinyot
