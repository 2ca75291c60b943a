// The parameter sets of silent authenticated bits: primal LPN with regular noise and a code of ten
// ones per row (doc/wan_profile.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/block.h"
#include "tinyot/parameters.h"

namespace tinyot::offline {

// What an iteration is made of. It uses up reserve() authenticated bits of a direction and makes
// outputs(); reserve() of these are the base of the next iteration.
struct SilentSet {
  LpnSet name;
  std::size_t trees;         // t; a multiple of kTreesPerKey
  std::uint32_t depth;       // d; at least 7, so that a tree is whole segments of the check
  std::uint32_t secret_log;  // the secret has k = 2^secret_log bits, at most 2^21
  double lpn_bits;           // log2 of the operations on words of the least attack known

  constexpr std::size_t leaves() const { return std::size_t{1} << depth; }  // of a tree
  constexpr std::size_t secret() const { return std::size_t{1} << secret_log; }
  constexpr std::size_t outputs() const { return trees << depth; }
  constexpr std::size_t reserve() const { return secret() + trees * depth + kKappa; }
  constexpr std::size_t net() const { return outputs() - reserve(); }
};

// Trees whose nodes are hashed under one key, and whose corrections are one message.
inline constexpr std::size_t kTreesPerKey = 128;

// The sets in use, each with nine outputs for each bit of the secret.
inline constexpr auto kSilentSets = std::to_array<SilentSet>({{LpnSet::B9, 1152, 9, 16, 129.4},
                                                              {LpnSet::B10, 1152, 10, 17, 131.3},
                                                              {LpnSet::B11, 1152, 11, 18, 133.3},
                                                              {LpnSet::B12, 1152, 12, 19, 135.2}});
// The first iteration of a chain is of the smallest set, whose base is the cheapest to make.
inline constexpr SilentSet kStartSet = kSilentSets.front();

// A set for which a better attack was found. It has no sizes, so nothing can be made with it; a
// store or a peer may name it.
struct RetiredSet {
  LpnSet name;
  LpnSet successor;  // to be used instead
  double lpn_bits;   // log2 of the operations on words of that attack
  std::string_view reason;

  // Returns why nothing is made with the set, and what to do.
  std::string refusal() const;
};
// Returns null if the set is in use, or if the parameters name none.
const RetiredSet* find_retired(LpnSet name);
const RetiredSet* find_retired(const ProfileParameters& parameters);

// Fails: UsageError with the refusal if the set is retired.
const SilentSet& silent_set(LpnSet name);
// Returns the set, in use or retired. Fails: UsageError if no set has this name.
LpnSet lpn_set_named(std::string_view name);

}  // namespace tinyot::offline
