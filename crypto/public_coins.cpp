#include "crypto/public_coins.h"

#include <algorithm>
#include <numeric>

namespace tinyot {

std::vector<std::uint32_t> permutation_from(const SessionId& session, const Domain& domain, const PublicSeed& seed, std::uint32_t n) {
  Rng rng(Seed{RandomOracle(session, domain).absorb_object(seed).block()});
  std::vector<std::uint32_t> image(n);
  std::iota(image.begin(), image.end(), 0u);
  for (std::uint32_t left = n; left > 1; --left) std::swap(image[left - 1], image[rng.below(left)]);
  return image;
}

std::vector<Pair> pairing_from(const SessionId& session, const Domain& domain, const PublicSeed& seed, std::uint32_t n) {
  const auto order = permutation_from(session, domain, seed, 2 * n);
  std::vector<Pair> pairs(n);
  for (std::uint32_t i = 0; i < n; ++i) pairs[i] = {std::min(order[2 * i], order[2 * i + 1]), std::max(order[2 * i], order[2 * i + 1])};
  std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.kept < b.kept; });
  return pairs;
}

}  // namespace tinyot
