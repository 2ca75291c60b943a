// Public random objects expanded from a 256-bit seed, equal on both sides: permutations of buckets,
// the pairing of LaBit. They are uniform: indices are drawn by rejection sampling.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/session_id.h"
#include "crypto/random_oracle.h"
#include "crypto/rng.h"

namespace tinyot::crypto {

using PublicSeed = std::array<std::uint8_t, 32>;

// A uniform permutation of 0..n-1: a random byte assigns each element to one of 256 bins, and each
// bin, small enough for a cache, is shuffled (Rao 1961, Sandelius 1962; Fisher-Yates within a bin).
// It is uniform: given the sizes of the bins, every distribution of the elements over them is
// equally likely, and so is every order within a bin.
std::vector<std::uint32_t> permutation_from(const SessionId& session, const Domain& domain,
                                            const PublicSeed& seed, std::uint32_t n);

// A uniform pairing of 0..2n-1 as `n` pairs (i < partner), ordered by i. Source: NNOB12 Fig. 12,
// step 4.
struct Pair {
  std::uint32_t kept;
  std::uint32_t partner;
};
std::vector<Pair> pairing_from(const SessionId& session, const Domain& domain,
                               const PublicSeed& seed, std::uint32_t n);

}  // namespace tinyot::crypto
