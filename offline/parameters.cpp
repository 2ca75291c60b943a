#include "offline/parameters.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "base/block.h"
#include "base/error.h"

namespace tinyot::offline {
namespace {

constexpr std::uint32_t kSigmaMin = 40, kSigmaMax = 128;
// The maximum is for one object: 129 for sigma = 128, and 67 units in 2^16 shards.
constexpr std::uint32_t kBucketMin = 2, kBucketMax = 160;

std::string one_decimal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

}  // namespace

void require_softspoken_k(std::uint64_t k) {
  if (k != 1 && k != 2 && k != 4)
    throw UsageError("softspoken-k " + std::to_string(k) + " is not 1, 2 or 4");
}

MaterialForm material_of(const ParameterRequest& request) {
  return request.material.value_or(entry_of(request.profile).materials.front());
}

SecurityParameters SecurityParameters::make(const ParameterRequest& request) {
  SecurityParameters parameters;
  parameters.request_ = request;
  const ProfileEntry& profile = entry_of(request.profile);
  const std::uint64_t unit =
      parameters.request_.unit.emplace(request.unit.value_or(profile.usual_unit));
  const MaterialForm material = parameters.request_.material.emplace(material_of(request));
  if (request.sigma < kSigmaMin || request.sigma > kSigmaMax)
    throw UsageError("sigma " + std::to_string(request.sigma) +
                     " is out of range: 40 to 128 bits (usual: 40, 64, 80)");
  if (unit < 1 || unit > kUnitMax)
    throw UsageError("unit " + std::to_string(unit) +
                     " is out of range: 1 to 2^24 ANDs, which are permuted together");
  require_softspoken_k(request.softspoken_k);
  if (std::ranges::find(profile.materials, material) == profile.materials.end())
    throw UsageError("the " + std::string(profile.name) + " profile makes " +
                     std::string(name_of(profile.materials.front())) + " only, but " +
                     std::string(name_of(material)) + " were requested");
  parameters.bucket_ = request.bucket ? *request.bucket : parameters.smallest_bucket(unit);
  if (parameters.bucket_ < kBucketMin || parameters.bucket_ > kBucketMax)
    throw UsageError("bucket " + std::to_string(parameters.bucket_) + " is out of range: 2 to 160");
  if (!parameters.is_strong(unit, parameters.bucket_, 1) && !request.weak_allowed)
    throw UsageError("a bucket of " + std::to_string(parameters.bucket_) + " with units of " +
                         std::to_string(unit) + " ANDs reaches " +
                         one_decimal(parameters.bound_bits(unit, parameters.bucket_)) +
                         " bits by the paper's bound (exact: " +
                         one_decimal(parameters.exact_bits(unit, parameters.bucket_)) +
                         "), less than sigma = " + std::to_string(request.sigma) +
                         "; use a bucket of " + std::to_string(parameters.smallest_bucket(unit)) +
                         " or more, or larger units",
                     Remedy::AllowWeakParameters);
  return parameters;
}

std::uint64_t SecurityParameters::population(std::uint64_t ands) const {
  return entry().population(ands);
}

double SecurityParameters::bound_bits(std::uint64_t ands, std::uint32_t bucket) const {
  return paper_bound_bits(population(ands), bucket);
}

double SecurityParameters::exact_bits(std::uint64_t ands, std::uint32_t bucket) const {
  return entry().exact_bits(population(ands), bucket);
}

// Whether such units reach sigma, each by the paper's bound and `outstanding` of them together.
bool SecurityParameters::is_strong(std::uint64_t ands, std::uint32_t bucket,
                                   std::uint64_t outstanding) const {
  if (bound_bits(ands, bucket) < sigma()) return false;
  const Risk one = risk({ands, bucket}), limit = risk_limit();
  Risk sum;
  for (std::uint64_t i = 0; i < outstanding && sum <= limit; ++i) sum += one;
  return sum <= limit;
}

std::uint32_t SecurityParameters::smallest_bucket(std::uint64_t ands) const {
  std::uint32_t bucket = kBucketMin;
  while (bucket < kBucketMax && !is_strong(ands, bucket, request_.workers + kUnitsSpare)) ++bucket;
  return bucket;
}

Risk SecurityParameters::risk(const UnitPlan& plan) const {
  return entry().risk(population(plan.ands), plan.bucket);
}

Risk SecurityParameters::risk_limit() const { return tinyot::risk_limit(sigma(), request_.shards); }

double SecurityParameters::units_outstanding_max(const UnitPlan& plan) const {
  return std::floor(as_double(risk_limit()) / as_double(risk(plan)));
}

std::optional<UnitPlan> SecurityParameters::within(const UnitPlan& plan,
                                                   const Risk& outstanding) const {
  if (weak_allowed()) return plan;
  const Risk limit = risk_limit();
  for (UnitPlan larger = plan; larger.bucket <= bucket_limit(plan); ++larger.bucket)
    if (outstanding + risk(larger) <= limit) return larger;
  return std::nullopt;
}

std::uint32_t SecurityParameters::columns_kept() const {
  const std::uint32_t factor = request_.columns == Columns::Theorem ? 22 : 8;
  return (factor * static_cast<std::uint32_t>(kKappa) + 2) / 3;
}

std::vector<UnitPlan> SecurityParameters::plan(std::uint64_t ands) const {
  std::vector<UnitPlan> units(ands / unit(), UnitPlan{unit(), bucket_});
  if (const std::uint64_t rest = ands % unit(); rest > 0)
    units.push_back({rest, weak_allowed() && request_.bucket
                               ? bucket_
                               : std::max(bucket_, smallest_bucket(rest))});
  return units;
}

}  // namespace tinyot::offline
