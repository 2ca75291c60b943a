#include "offline/parameters.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "base/block.h"
#include "base/error.h"
#include "offline/base_ot/base_ot.h"
#include "offline/silent/parameter_sets.h"
#include "offline/unit/unit_maker.h"

namespace tinyot::offline {
namespace {

constexpr std::uint32_t kSigmaMin = 40, kSigmaMax = 128;
// The maximum is for one object: 129 for sigma = 128, and 67 units in 2^16 shards.
constexpr std::uint32_t kBucketMax = 160;
// Buckets by which a unit's may be larger than that of the job.
constexpr int kLargerBuckets = 2;

std::string one_decimal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::uint32_t largest_of(const BucketSizes& bucket) { return std::ranges::max(bucket.sizes()); }

void require_bucket(const ProfileEntry& profile, const BucketSizes& bucket) {
  const std::span<const std::uint32_t> least = profile.least_bucket.sizes();
  if (bucket.levels() != least.size())
    throw UsageError("bucket " + bucket.text() + " has another number of sizes than those of the " +
                     std::string(profile.name) + " profile, such as " +
                     profile.least_bucket.text());
  for (std::size_t level = 0; level < least.size(); ++level)
    if (bucket.sizes()[level] < least[level] || bucket.sizes()[level] > kBucketMax)
      throw UsageError("bucket " + bucket.text() + " is out of range: " +
                       std::to_string(least[level]) + " to " + std::to_string(kBucketMax));
}

// The profile's own parameters, as requested. Fails: UsageError for a value that they cannot have.
ProfileParameters own_of(const ParameterRequest& request) {
  if (!request.own) return entry_of(request.profile).own;
  return own_parameters(request.profile, named_values(request.profile, *request.own));
}

}  // namespace

AndMaterial material_of(const ParameterRequest& request) {
  return request.material.value_or(entry_of(request.profile).materials.front());
}

void require_in_use(const ParameterRequest& request) {
  require_base_ot(request.base_ot);
  if (const RetiredSet* retired = find_retired(own_of(request)))
    throw UsageError(retired->refusal());
}

SecurityParameters SecurityParameters::make(const ParameterRequest& request) {
  return {request, kUnitsSpare};
}

SecurityParameters SecurityParameters::make_without_spare(const ParameterRequest& request) {
  return {request, 0};
}

SecurityParameters::SecurityParameters(const ParameterRequest& request, std::uint32_t units_spare)
    : request_(request), units_spare_(units_spare) {
  const ProfileEntry& profile = entry_of(request.profile);
  const std::uint64_t unit = request_.unit.emplace(request.unit.value_or(profile.usual_unit));
  const AndMaterial material = request_.material.emplace(material_of(request));
  request_.own = own_of(request);
  if (request.sigma < kSigmaMin || request.sigma > kSigmaMax)
    throw UsageError("sigma " + std::to_string(request.sigma) +
                     " is out of range: 40 to 128 bits (usual: 40, 64, 80)");
  if (unit < 1 || unit > kUnitMax)
    throw UsageError("unit " + std::to_string(unit) +
                     " is out of range: 1 to 2^24 ANDs, which are permuted together");
  if (std::ranges::find(profile.materials, material) == profile.materials.end()) {
    std::string made;
    for (const AndMaterial each : profile.materials)
      made += (made.empty() ? "" : " or ") + std::string(name_of(each));
    throw UsageError("the " + std::string(profile.name) + " profile makes no " +
                     std::string(name_of(material)) + ", but " + made);
  }
  bucket_ = request.bucket ? *request.bucket : smallest_bucket(unit);
  require_bucket(profile, bucket_);
  if (!is_strong(unit, bucket_, 1) && !request.weak_allowed)
    throw UsageError(
        "a bucket of " + bucket_.text() + " with units of " + std::to_string(unit) +
            " ANDs reaches " + one_decimal(bound_bits(unit, bucket_)) +
            " bits by the paper's bound (exact: " + one_decimal(exact_bits(unit, bucket_)) +
            "), less than sigma = " + std::to_string(request.sigma) + "; use a bucket of " +
            smallest_bucket(unit).text() + " or more, or larger units",
        Remedy::AllowWeakParameters);
}

bool SecurityParameters::are_open() const {
  return fitted_to(0).own() != fitted_to(kUnlimitedRate).own();
}

SecurityParameters SecurityParameters::fitted_to(double bits_per_s) const {
  SecurityParameters fitted = *this;
  if (entry().fitted != nullptr) fitted.request_.own = entry().fitted(own(), bits_per_s);
  return fitted;
}

BaseOt SecurityParameters::base_ot() const { return request_.base_ot.value_or(usual_base_ot()); }

std::uint64_t SecurityParameters::population(std::uint64_t ands) const {
  return entry().population(ands);
}

double SecurityParameters::bound_bits(std::uint64_t ands, const BucketSizes& bucket) const {
  return entry().bound_bits(population(ands), bucket);
}

double SecurityParameters::exact_bits(std::uint64_t ands, const BucketSizes& bucket) const {
  return entry().exact_bits(population(ands), bucket);
}

// Whether such units reach sigma, each by the paper's bound and `outstanding` of them together.
bool SecurityParameters::is_strong(std::uint64_t ands, const BucketSizes& bucket,
                                   std::uint64_t outstanding) const {
  if (bound_bits(ands, bucket) < sigma()) return false;
  const Risk one = risk({ands, bucket}), limit = risk_limit();
  Risk sum;
  for (std::uint64_t i = 0; i < outstanding && sum <= limit; ++i) sum += one;
  return sum <= limit;
}

BucketSizes SecurityParameters::smallest_bucket(std::uint64_t ands) const {
  BucketSizes bucket = entry().least_bucket;
  while (largest_of(bucket) < kBucketMax &&
         !is_strong(ands, bucket, request_.workers + units_spare_))
    bucket = entry().larger_bucket(bucket);
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
  UnitPlan larger = plan;
  for (int step = 0; step <= kLargerBuckets; ++step) {
    if (outstanding + risk(larger) <= limit) return larger;
    larger.bucket = entry().larger_bucket(larger.bucket);
  }
  return std::nullopt;
}

BucketSizes SecurityParameters::bucket_limit(const UnitPlan& plan) const {
  BucketSizes bucket = plan.bucket;
  for (int step = 0; step < kLargerBuckets; ++step) bucket = entry().larger_bucket(bucket);
  return bucket;
}

std::uint64_t SecurityParameters::unit_bytes(const UnitPlan& plan) const {
  return entry().cost_of_unit(*this, {plan, 0}).memory_bytes;
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
