// Security parameters and every size derived from them, each with the inequality that it satisfies.
//
// Source: NNOB12 Theorem 6 (buckets); doc/protocol.md, section 7.2 (layers).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/bounds.h"
#include "base/risk.h"
#include "offline/profile.h"
#include "tinyot/parameters.h"

namespace tinyot::offline {

// What is made if the request does not say.
AndMaterial material_of(const ParameterRequest& request);

// Before material is made. Fails: UsageError with the reason if the parameter set that it would
// rest on is retired, or its base OTs are not available.
void require_in_use(const ParameterRequest& request);

// Of a link that limits nothing, in bits per second.
inline constexpr double kUnlimitedRate = std::numeric_limits<double>::infinity();

class SecurityParameters {
 public:
  // Fails: UsageError naming the parameter, its range or the bound that it misses.
  static SecurityParameters make(const ParameterRequest& request);
  // For a session that ends with the first unit that is broken off: without spare units.
  static SecurityParameters make_without_spare(const ParameterRequest& request);

  Profile profile() const { return request_.profile; }
  const ProfileEntry& entry() const { return entry_of(profile()); }
  const ParameterRequest& request() const { return request_; }
  const ProfileParameters& own() const { return *request_.own; }
  // Those of the profile that has this type of parameters.
  template <class Own>
  const Own& own() const {
    return std::get<Own>(own());
  }
  std::uint32_t sigma() const { return request_.sigma; }
  std::uint64_t unit() const { return *request_.unit; }
  const BucketSizes& bucket() const { return bucket_; }
  bool weak_allowed() const { return request_.weak_allowed; }
  AndMaterial material() const { return *request_.material; }
  // Whether parameters of the profile's own depend on the link.
  bool are_open() const;
  // With these chosen for a link of so many bits per second a worker.
  SecurityParameters fitted_to(double bits_per_s) const;
  // As requested; or else as if both parties had the same OpenSSL.
  BaseOt base_ot() const;

  // l, the leaky objects of each bucket position of a unit of `ands` ANDs; rounded up as the
  // profile needs it.
  std::uint64_t population(std::uint64_t ands) const;
  // Security of a unit of `ands` ANDs by the paper's bound, which must reach sigma.
  double bound_bits(std::uint64_t ands, const BucketSizes& bucket) const;
  // The exact security, given how the profile combines its objects.
  double exact_bits(std::uint64_t ands, const BucketSizes& bucket) const;
  // The first choice with bound_bits >= sigma under which the units in flight and kUnitsSpare
  // broken ones, if there are spare units, stay within risk_limit() (base/risk.h).
  BucketSizes smallest_bucket(std::uint64_t ands) const;

  static constexpr std::uint32_t kUnitsSpare = 3;
  // e(l, B) of such a unit.
  Risk risk(const UnitPlan& plan) const;
  // The limit of the sum of the risks of a store's outstanding units: 2^-sigma / shards.
  Risk risk_limit() const;
  // The number of such units that may be outstanding: in flight or broken off.
  double units_outstanding_max(const UnitPlan& plan) const;
  // The plan, with the smallest bucket from its own to bucket_limit that keeps the risk of the unit
  // and `outstanding` together within the limit. Empty if there is none. With weak_allowed, returns
  // the plan unchanged.
  std::optional<UnitPlan> within(const UnitPlan& plan, const Risk& outstanding) const;
  BucketSizes bucket_limit(const UnitPlan& plan) const;
  // The memory that such a unit takes while it is made, without its inputs.
  std::uint64_t unit_bytes(const UnitPlan& plan) const;

  // Units that make `ands` ANDs: full ones, then a smaller one. Theorem 6 is applied to the smaller
  // one with its own l: its bucket is smallest_bucket there, if that is more than bucket().
  std::vector<UnitPlan> plan(std::uint64_t ands) const;

 private:
  SecurityParameters(const ParameterRequest& request, std::uint32_t units_spare);
  bool is_strong(std::uint64_t ands, const BucketSizes& bucket, std::uint64_t outstanding) const;
  ParameterRequest request_;
  std::uint32_t units_spare_;
  BucketSizes bucket_;
};

}  // namespace tinyot::offline
