// The profiles of preprocessing: one entry each. What distinguishes a profile from the others
// stands in its folder and is reached through its entry; nothing else asks which profile it has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/block.h"
#include "base/bounds.h"
#include "base/risk.h"
#include "tinyot/parameters.h"
#include "tinyot/party.h"

namespace tinyot::checks {
class Session;
}

namespace tinyot::offline {

class SecurityParameters;
class UnitMaker;
struct StageCost;
struct LinkSchedule;
struct UnitRequest;

// Of a unit, at each party. Tests compare it with what units take.
struct UnitCost {
  std::uint64_t bytes_sent = 0;    // message headers included
  std::uint64_t memory_bytes = 0;  // peak, beyond the program itself and the store
};

// Each function takes parameters of this profile.
struct ProfileEntry {
  Profile profile;
  std::string_view name;
  std::uint64_t usual_unit;                // ANDs
  std::optional<std::uint64_t> live_unit;  // of live runs, if they have another one
  std::span<const AndMaterial> materials;  // that it makes, the usual one first

  // Its own parameters, with their defaults; and those that are fastest, for material of which no
  // security is expected.
  ProfileParameters own, fastest;
  std::span<const ProfileParameters> compared;   // of the ways that differ most in their cost
  std::span<const std::string_view> parameters;  // their names
  // These with what they leave open chosen for a link of so many bits per second a worker. Null if
  // none can be open.
  ProfileParameters (*fitted)(const ProfileParameters& own, double bits_per_s) = nullptr;
  // Those that have a meaning beside the values of those before them.
  std::vector<NamedValue> (*named)(const ProfileParameters& own);
  // The name is one of `parameters`. Fails: UsageError naming parameter and value.
  void (*set)(ProfileParameters& own, const NamedValue& to);

  // The choices of bucket sizes, each larger than the one before it, and with less risk.
  BucketSizes least_bucket;
  BucketSizes (*larger_bucket)(const BucketSizes& bucket);
  // Leaky objects that an AND takes.
  std::uint64_t (*leaky_per_and)(const BucketSizes& bucket);
  // l, the leaky objects of each bucket position of a unit of `ands` ANDs.
  std::uint64_t (*population)(std::uint64_t ands);
  // How secure l buckets of these leaky objects are (base/bounds.h, base/risk.h): by the paper's
  // bound, exactly, and the risk of a unit.
  double (*bound_bits)(std::uint64_t l, const BucketSizes& bucket);
  double (*exact_bits)(std::uint64_t l, const BucketSizes& bucket);
  Risk (*risk)(std::uint64_t l, const BucketSizes& bucket);

  // A global key as the profile needs it, from a random one.
  Delta (*fitted_key)(Delta key, Party me, AndMaterial form);
  std::unique_ptr<UnitMaker> (*make_unit_maker)(checks::Session& session,
                                                const SecurityParameters& params,
                                                const LinkSchedule& schedule);

  UnitCost (*cost_of_unit)(const SecurityParameters& params, const UnitRequest& request);
  // What is sent ahead of an answer, at a time (unit/steps.h).
  StageCost (*cost_of_piece)(const SecurityParameters& params);
  std::uint64_t (*base_ots)(const SecurityParameters& params);  // in each direction
  // Bytes that each party sends in a job of these units and so many workers beside those of
  // cost_of_unit: once, and for what units share.
  std::uint64_t (*shared_bytes)(const SecurityParameters& params,
                                std::span<const UnitRequest> units, std::size_t workers);
  // Round trips in which a unit waits for the peer, and those before the first unit: measured.
  double (*round_trips_of_unit)(const SecurityParameters& params);
  double (*round_trips_of_set_up)(const SecurityParameters& params, std::size_t units);
  // The memory of one layer of a unit that waits for messages while others are made; null if units
  // do not wait side by side. A unit has leaky_per_and() layers.
  std::uint64_t (*layer_bytes)(const SecurityParameters& params, std::uint64_t ands);
  // Whether a unit's own memory is poured, so that nothing waits to be written while it is made.
  bool pours_own_memory;
  // Whether its traffic is spread over its work, rather than sent before half of it.
  bool sends_throughout;
  // How often more ANDs are made in a time than with nnob12, at least.
  std::uint64_t speed;
};

// Bucket sizes of a profile that combines its leaky objects on one level.
constexpr BucketSizes one_larger(const BucketSizes& bucket) { return bucket.only() + 1; }
constexpr std::uint64_t as_many_as_bucket(const BucketSizes& bucket) { return bucket.only(); }

// A bound of base/bounds.h or base/risk.h for them.
template <auto bound>
auto on_one_level(std::uint64_t l, const BucketSizes& bucket) {
  return bound(l, bucket.only());
}

// Defined in profile_table.cpp, and nowhere else.
std::span<const ProfileEntry* const> profiles();

const ProfileEntry& entry_of(Profile profile);

}  // namespace tinyot::offline
