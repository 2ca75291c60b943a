// Bounds on what a peer gains from leaky objects, and the unit that they are about. A profile says
// which of them apply to it (offline/profile.h).
//
// Source: NNOB12 Theorem 6; doc/protocol.md, section 7.2 (layers).
#pragma once

#include <cstdint>

#include "tinyot/parameters.h"

namespace tinyot {

// Theorem 6: l leaky objects of each bucket position, permuted together, are secure to (log2(l) +
// 1)(B - 1) bits.
double paper_bound_bits(std::uint64_t l, std::uint32_t bucket);

// -log2 of the expected number of wholly leaked buckets under the best attack:
//   eps(l, B) = max over t of 2^-t . l . C(t, B) / C(B l, B),
//   reached at t = 2B - 1, or at B l if that is less.
double exact_bound_bits(std::uint64_t l, std::uint32_t bucket);

// The same for layers of l objects with cyclic shifts (offline/triples/layer_shifts): one attack
// per layer is best, 2^-B . l^(1-B).
double layers_bound_bits(std::uint64_t l, std::uint32_t bucket);

inline constexpr std::uint64_t kUnitMax = std::uint64_t{1} << 24;

// One unit of preprocessing: `ands` objects of each kind, made in buckets of these sizes.
struct UnitPlan {
  std::uint64_t ands;
  BucketSizes bucket;

  friend bool operator==(const UnitPlan&, const UnitPlan&) = default;
};

}  // namespace tinyot
