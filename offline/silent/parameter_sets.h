// The parameter sets of silent authenticated bits: primal LPN with regular noise and a code of ten
// ones per row (doc/wan_profile.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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
  double lpn_bits;           // log2 of the operations of the least attack known

  constexpr std::size_t leaves() const { return std::size_t{1} << depth; }  // of a tree
  constexpr std::size_t secret() const { return std::size_t{1} << secret_log; }
  constexpr std::size_t outputs() const { return trees << depth; }
  constexpr std::size_t reserve() const { return secret() + trees * depth + kKappa; }
  constexpr std::size_t net() const { return outputs() - reserve(); }
};

// Trees whose nodes are hashed under one key, and whose corrections are one message.
inline constexpr std::size_t kTreesPerKey = 128;

// The first iteration of a chain is of the smallest set, whose base is the cheapest to make.
inline constexpr SilentSet kStartSet{LpnSet::S10, 640, 10, 16, 133.4};
inline constexpr auto kSilentSets = std::to_array<SilentSet>({kStartSet,
                                                              {LpnSet::S11, 768, 11, 17, 137.3},
                                                              {LpnSet::S12, 1024, 12, 18, 137.5},
                                                              {LpnSet::S13, 1280, 13, 19, 138.5}});

constexpr const SilentSet& silent_set(LpnSet name) {
  return kSilentSets[static_cast<std::size_t>(name)];
}
// Fails: UsageError if no set has this name.
LpnSet lpn_set_named(std::string_view name);
// Why the set is no longer used, if a better attack was found; otherwise empty. Defined in
// retired_sets.cpp, and nowhere else.
std::string_view why_retired(LpnSet name);
// Before anything is made with the set. Fails: UsageError with the reason if it is retired.
void require_in_use(LpnSet name);

}  // namespace tinyot::offline
