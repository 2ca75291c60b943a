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
constexpr std::uint64_t kUnitOfNnob12 = std::uint64_t{1} << 18, kUnitOfFast = std::uint64_t{1} << 20;
constexpr double kShortStringBits = 63;  // of half a key, the lowest of which is known
constexpr double kAttacksMax = 4096;  // beyond, t^B.2^-t falls whatever B is
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

std::string_view name_of(MaterialForm form) { return form == MaterialForm::Pairs ? "pairs" : "triples"; }

std::string_view name_of(TripleCheck check) { return check == TripleCheck::Each ? "each" : "deferred"; }

double paper_bound_bits(std::uint64_t l, std::uint32_t bucket) {
  return (std::log2(static_cast<double>(l)) + 1) * (bucket - 1.0);
}

double exact_bound_bits(std::uint64_t l, std::uint32_t bucket) {
  const double b = bucket, objects = b * static_cast<double>(l);
  const double attacked = std::min(2 * b - 1, objects);
  return attacked - std::log2(static_cast<double>(l)) - log2_binomial(attacked, b) + log2_binomial(objects, b);
}

double layers_bound_bits(std::uint64_t l, std::uint32_t bucket, TripleCheck check) {
  const double b = bucket, aligned = (b - 1) * std::log2(static_cast<double>(l));
  if (check == TripleCheck::Each) return b + aligned;
  double worst = -1;  // log2 of f
  for (double t = 1; t <= kAttacksMax; ++t) {
    const double together = b * std::log2(t) - t;
    double bound = together;
    if (t < kSegmentTriples) {
      const double collision = std::log2(1 + b * (t - 1) / (kSegmentTriples - t));
      double scattered = 0;  // of the largest factor of a layer
      for (double s = 1; s <= t; ++s) scattered = std::max(scattered, std::log2(s) - (s - 1) * (1 - collision));
      bound = std::min(together, b * scattered - 1);
    }
    worst = std::max(worst, bound);
  }
  return aligned - worst;
}

SecurityParameters SecurityParameters::make(const ParameterRequest& request) {
  SecurityParameters parameters;
  parameters.request_ = request;
  const bool fast = request.profile == Profile::Fast;
  const std::uint64_t unit = parameters.request_.unit.emplace(request.unit.value_or(fast ? kUnitOfFast : kUnitOfNnob12));
  const MaterialForm material = parameters.request_.material.emplace(request.material.value_or(fast ? MaterialForm::Triples : MaterialForm::Pairs));
  if (request.sigma < kSigmaMin || request.sigma > kSigmaMax)
    throw UsageError("--sigma " + std::to_string(request.sigma) + " is out of range: 40 to 128 bits (40, 64 and 80 are the usual ones)");
  if (unit < 1 || unit > kUnitMax)
    throw UsageError("--unit " + std::to_string(unit) + " is out of range: 1 to 2^24 ANDs are permuted together");
  if (request.softspoken_k != 1 && request.softspoken_k != 2 && request.softspoken_k != 4)
    throw UsageError("--softspoken-k " + std::to_string(request.softspoken_k) + " is not 1, 2 or 4");
  if (fast && material != MaterialForm::Triples) throw UsageError("--profile fast makes --material triples only");
  if (!fast && request.check != TripleCheck::Each) throw UsageError("--check deferred goes with --profile fast");
  if (!fast && request.strings == StringBits::Short) throw UsageError("--short-strings goes with --profile fast");
  if (request.strings == StringBits::Short && request.sigma > kShortStringBits)
    throw UsageError("--short-strings leaves 63 bits, less than sigma = " + std::to_string(request.sigma));
  const std::uint32_t needed = parameters.smallest_bucket(unit);
  parameters.bucket_ = request.bucket.value_or(needed);
  if (parameters.bucket_ < kBucketMin || parameters.bucket_ > kBucketMax)
    throw UsageError("--bucket " + std::to_string(parameters.bucket_) + " is out of range: 2 to 129");
  if (parameters.bucket_ < needed && !request.weak_allowed)
    throw UsageError("--bucket " + std::to_string(parameters.bucket_) + " with units of " + std::to_string(unit) + " ANDs reaches " +
                     one_decimal(parameters.bound_bits(unit, parameters.bucket_)) + " bits by the paper's bound (exact: " +
                     one_decimal(parameters.exact_bits(unit, parameters.bucket_)) + "), less than sigma = " + std::to_string(request.sigma) +
                     "; use --bucket " + std::to_string(needed) + " or more, or a larger --unit, or --allow-weak for measurements");
  return parameters;
}

std::uint64_t SecurityParameters::population(std::uint64_t ands) const {
  return profile() == Profile::Fast ? (ands + kSegmentTriples - 1) / kSegmentTriples * kSegmentTriples : ands;
}

double SecurityParameters::bound_bits(std::uint64_t ands, std::uint32_t bucket) const {
  const double paper = paper_bound_bits(population(ands), bucket);
  return check() == TripleCheck::Each && strings() == StringBits::Full ? paper : std::min(paper, exact_bits(ands, bucket));
}

double SecurityParameters::exact_bits(std::uint64_t ands, std::uint32_t bucket) const {
  const std::uint64_t l = population(ands);
  const double bits = profile() == Profile::Fast ? layers_bound_bits(l, bucket, check()) : exact_bound_bits(l, bucket);
  return strings() == StringBits::Short ? std::min(bits, kShortStringBits) : bits;
}

std::uint32_t SecurityParameters::smallest_bucket(std::uint64_t ands) const {
  std::uint32_t bucket = kBucketMin;
  while (bound_bits(ands, bucket) < sigma() && bucket < kBucketMax) ++bucket;
  return bucket;
}

std::uint32_t SecurityParameters::columns_kept() const {
  const std::uint32_t factor = request_.columns == Columns::Theorem ? 22 : 8;
  return (factor * static_cast<std::uint32_t>(kKappa) + 2) / 3;
}

std::vector<UnitPlan> SecurityParameters::plan(std::uint64_t ands) const {
  std::vector<UnitPlan> units(ands / unit(), UnitPlan{unit(), bucket_});
  if (const std::uint64_t rest = ands % unit(); rest > 0)
    units.push_back({rest, weak_allowed() && request_.bucket ? bucket_ : std::max(bucket_, smallest_bucket(rest))});
  return units;
}

}  // namespace tinyot
