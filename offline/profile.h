// The profiles of preprocessing: one entry each. What distinguishes a profile from the others
// stands in its folder and is reached through its entry; nothing else asks which profile it has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/block.h"
#include "base/risk.h"
#include "tinyot/parameters.h"
#include "tinyot/party.h"

namespace tinyot::checks {
class Session;
}

namespace tinyot::offline {

class SecurityParameters;
class UnitMaker;
struct PieceCost;
struct Sharing;
struct UnitRequest;

// Of a unit, at each party. Tests compare it with what units take.
struct UnitCost {
  std::uint64_t bytes_sent = 0;    // message headers included
  std::uint64_t memory_bytes = 0;  // peak, beyond the program itself and the store
};

// A parameter that this profile has and others do not.
struct OwnParameter {
  std::string_view name;  // as parties compare it
  std::string (*text)(const ParameterRequest& request);
};

// Each function takes parameters of this profile.
struct ProfileEntry {
  Profile profile;
  std::string_view name;
  std::uint64_t usual_unit;                 // ANDs
  std::span<const MaterialForm> materials;  // that it makes, the usual one first
  OwnParameter own;

  // l, the leaky objects of each bucket position of a unit of `ands` ANDs.
  std::uint64_t (*population)(std::uint64_t ands);
  // How secure l buckets of these leaky objects are (base/bounds.h, base/risk.h).
  double (*exact_bits)(std::uint64_t l, std::uint32_t bucket);
  Risk (*risk)(std::uint64_t l, std::uint32_t bucket);

  // A global key as the profile needs it, from a random one.
  Delta (*fitted_key)(Delta key, Party me);
  std::unique_ptr<UnitMaker> (*make_unit_maker)(checks::Session& session,
                                                const SecurityParameters& params,
                                                const Sharing& sharing);

  UnitCost (*cost_of_unit)(const SecurityParameters& params, const UnitRequest& request);
  // What is sent ahead of an answer, at a time (unit/steps.h).
  PieceCost (*cost_of_piece)(const SecurityParameters& params);
  std::uint64_t (*base_ots)(const SecurityParameters& params);  // in each direction
  // Bytes that each party sends once in a job of so many units.
  std::uint64_t (*set_up_bytes)(const SecurityParameters& params, std::size_t units);
  // Round trips in which a unit waits for the peer, and those before the first unit: measured.
  double (*round_trips_of_unit)(const SecurityParameters& params);
  double (*round_trips_of_set_up)(const SecurityParameters& params, std::size_t units);
  // The memory of one layer of a unit that waits for messages while others are made; null if units
  // do not wait side by side.
  std::uint64_t (*layer_bytes)(const SecurityParameters& params, std::uint64_t ands);
  // Whether a unit's own memory is poured, so that nothing waits to be written while it is made.
  bool pours_own_memory;
  // How often more ANDs are made in a time than with nnob12, at least.
  std::uint64_t speed;
};

// Defined in profile_table.cpp, and nowhere else.
std::span<const ProfileEntry* const> profiles();

const ProfileEntry& entry_of(Profile profile);

}  // namespace tinyot::offline
