#include "base/parameters.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "base/block.h"
#include "base/error.h"

namespace tinyot {
namespace {

constexpr std::uint32_t kSigmaMin = 40, kSigmaMax = 128;
constexpr std::uint64_t kUnitMax = std::uint64_t{1} << 24;
constexpr std::uint32_t kBucketMin = 2, kBucketMax = 129;  // (log2(1) + 1)(129 - 1) = 128

double log2_binomial(double n, double k) {
  return (std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1)) / std::log(2.0);
}

std::string one_decimal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

}  // namespace

std::string_view name_of(Profile profile) { return profile == Profile::Nnob12 ? "nnob12" : "fast"; }

std::string_view name_of(Columns columns) { return columns == Columns::Theorem ? "theorem" : "experiment"; }

double paper_bound_bits(std::uint64_t l, std::uint32_t bucket) {
  return (std::log2(static_cast<double>(l)) + 1) * (bucket - 1.0);
}

double exact_bound_bits(std::uint64_t l, std::uint32_t bucket) {
  const double b = bucket, objects = b * static_cast<double>(l);
  const double attacked = std::min(2 * b - 1, objects);
  return attacked - std::log2(static_cast<double>(l)) - log2_binomial(attacked, b) + log2_binomial(objects, b);
}

double layers_bound_bits(std::uint64_t l, std::uint32_t bucket) { return bucket + (bucket - 1.0) * std::log2(static_cast<double>(l)); }

std::uint32_t smallest_bucket(std::uint64_t l, std::uint32_t sigma) {
  std::uint32_t bucket = kBucketMin;
  while (paper_bound_bits(l, bucket) < sigma) ++bucket;
  return bucket;
}

SecurityParameters SecurityParameters::make(const ParameterRequest& request) {
  if (request.sigma < kSigmaMin || request.sigma > kSigmaMax)
    throw UsageError("--sigma " + std::to_string(request.sigma) + " is out of range: 40 to 128 bits (40, 64 and 80 are the usual ones)");
  if (request.unit < 1 || request.unit > kUnitMax)
    throw UsageError("--unit " + std::to_string(request.unit) + " is out of range: 1 to 2^24 ANDs are permuted together");
  if (request.softspoken_k != 1 && request.softspoken_k != 2 && request.softspoken_k != 4)
    throw UsageError("--softspoken-k " + std::to_string(request.softspoken_k) + " is not 1, 2 or 4");
  SecurityParameters parameters;
  parameters.request_ = request;
  const std::uint32_t needed = smallest_bucket(request.unit, request.sigma);
  parameters.bucket_ = request.bucket.value_or(needed);
  if (parameters.bucket_ < kBucketMin || parameters.bucket_ > kBucketMax)
    throw UsageError("--bucket " + std::to_string(parameters.bucket_) + " is out of range: 2 to 129");
  if (parameters.bucket_ < needed && !request.weak_allowed)
    throw UsageError("--bucket " + std::to_string(parameters.bucket_) + " with units of " + std::to_string(request.unit) +
                     " ANDs reaches " + one_decimal(paper_bound_bits(request.unit, parameters.bucket_)) +
                     " bits by the paper's bound (exact: " + one_decimal(parameters.exact_bits(request.unit, parameters.bucket_)) +
                     "), less than sigma = " + std::to_string(request.sigma) + "; use --bucket " + std::to_string(needed) +
                     " or more, or a larger --unit, or --allow-weak for measurements");
  return parameters;
}

double SecurityParameters::exact_bits(std::uint64_t l, std::uint32_t bucket) const {
  return profile() == Profile::Fast ? layers_bound_bits(l, bucket) : exact_bound_bits(l, bucket);
}

std::uint32_t SecurityParameters::columns_kept() const {
  const std::uint32_t factor = request_.columns == Columns::Theorem ? 22 : 8;
  return (factor * static_cast<std::uint32_t>(kKappa) + 2) / 3;
}

std::vector<UnitPlan> SecurityParameters::plan(std::uint64_t ands) const {
  std::vector<UnitPlan> units(ands / unit(), UnitPlan{unit(), bucket_});
  if (const std::uint64_t rest = ands % unit(); rest > 0)
    units.push_back({rest, weak_allowed() && request_.bucket ? bucket_ : std::max(bucket_, smallest_bucket(rest, sigma()))});
  return units;
}

}  // namespace tinyot
