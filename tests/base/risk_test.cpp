// The risk of a unit bounds the success of every attack on it, and its arithmetic is exact.
#include "base/risk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "offline/parameters.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

// The largest p / (1 - s) over all attacks on B layers of l objects, where each layer but the first
// is shifted cyclically by a uniform amount, and an attacked object is detected with probability
// 1/2.
double best_on_layers(std::uint32_t l, std::uint32_t bucket) {
  const std::uint32_t sets = 1u << l;
  std::vector<std::uint32_t> layers(bucket, 0);
  double best = 0;
  const auto rotated = [&](std::uint32_t set, std::uint32_t by) {
    return ((set << by) | (set >> (l - by))) & (sets - 1);
  };
  for (std::uint64_t code = 1; code < std::uint64_t{1} << (l * bucket); ++code) {
    int attacked = 0;
    for (std::uint32_t k = 0; k < bucket; ++k)
      layers[k] = static_cast<std::uint32_t>(code >> (l * k)) & (sets - 1),
      attacked += std::popcount(layers[k]);
    std::uint64_t shifts = 1, hits = 0;
    for (std::uint32_t k = 1; k < bucket; ++k) shifts *= l;
    for (std::uint64_t shift = 0; shift < shifts; ++shift) {
      std::uint32_t common = layers[0];
      std::uint64_t rest = shift;
      for (std::uint32_t k = 1; k < bucket; ++k, rest /= l)
        common &= rotated(layers[k], static_cast<std::uint32_t>(rest % l));
      hits += common != 0;
    }
    const double alive = std::ldexp(1.0, -attacked),
                 success = static_cast<double>(hits) / static_cast<double>(shifts);
    best = std::max(best, alive * success / (1 - alive * (1 - success)));
  }
  return best;
}

// The same for l buckets of B objects, permuted uniformly: only the number of attacked objects
// matters.
double best_on_permutation(std::uint32_t l, std::uint32_t bucket) {
  const std::uint32_t objects = l * bucket;
  double best = 0;
  for (std::uint32_t attacked = 1; attacked <= objects; ++attacked) {
    // All sets of positions of the attacked objects are equally likely.
    std::uint64_t sets = 0, owned = 0;
    for (std::uint64_t set = 0; set < std::uint64_t{1} << objects; ++set) {
      if (std::popcount(set) != static_cast<int>(attacked)) continue;
      ++sets;
      bool owns = false;
      for (std::uint32_t j = 0; j < l; ++j)
        owns |= ((set >> (j * bucket)) & ((1u << bucket) - 1)) == (1u << bucket) - 1;
      owned += owns;
    }
    const double alive = std::ldexp(1.0, -static_cast<int>(attacked)),
                 success = static_cast<double>(owned) / static_cast<double>(sets);
    best = std::max(best, alive * success / (1 - alive * (1 - success)));
  }
  return best;
}

TEST(Risk, BoundsEveryAttackOnLayers) {
  for (const auto& [l, bucket] :
       {std::pair{2u, 2u}, {3u, 2u}, {4u, 2u}, {7u, 2u}, {3u, 3u}, {5u, 3u}, {4u, 4u}}) {
    const double best = best_on_layers(l, bucket), risk = as_double(risk_of_layers(l, bucket));
    EXPECT_LE(best, risk * (1 + 1e-12)) << l << ' ' << bucket;
    EXPECT_GE(best, risk / 2) << l << ' ' << bucket << ": far above the best attack";
  }
}

TEST(Risk, BoundsEveryAttackOnAPermutation) {
  for (const auto& [l, bucket] :
       {std::pair{2u, 2u}, {3u, 2u}, {5u, 2u}, {2u, 3u}, {4u, 3u}, {6u, 3u}, {4u, 4u}}) {
    const double best = best_on_permutation(l, bucket),
                 risk = as_double(risk_of_permutation(l, bucket));
    EXPECT_LE(best, risk * (1 + 1e-12)) << l << ' ' << bucket;
    EXPECT_GE(best, risk / 2) << l << ' ' << bucket << ": far above the best attack";
  }
}

TEST(Risk, HasTheDocumentedValues) {
  EXPECT_NEAR(std::log2(as_double(risk_of_layers(1 << 20, 3))), -43 - std::log2(1 - 0.125), 1e-9);
  EXPECT_NEAR(std::log2(as_double(risk_of_layers(1 << 10, 5))), -45 - std::log2(1 - 1.0 / 32),
              1e-9);
  Risk sum;
  for (int i = 0; i < 7; ++i) sum += risk_of_layers(1 << 20, 3);
  EXPECT_LE(sum, risk_limit(40, 1));
  EXPECT_GT(sum + risk_of_layers(1 << 20, 3), risk_limit(40, 1));
}

TEST(Risk, IsRoundedUpAndItsLimitDown) {
  // 1 / (3^1 * 3) has no finite binary expansion.
  Risk sum;
  for (int i = 0; i < 9; ++i) sum += risk_of_layers(3, 2);
  EXPECT_EQ(sum, (Risk{{~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}}}))
      << "the sum of nine ninths, rounded up, saturates at 1";
  Risk limits;
  for (int i = 0; i < 3; ++i) limits += risk_limit(40, 3);
  EXPECT_LE(limits, risk_limit(40, 1));
  EXPECT_EQ(risk_limit(64, 1), (Risk{{1 << 20, 0, 1}}));
  EXPECT_EQ(risk_limit(128, 1), (Risk{{1 << 20, 1, 0}}));
  EXPECT_EQ(risk_of_layers(1 << 24, 100), (Risk{{1, 0, 0}})) << "a risk is never zero";
}

TEST(Risk, AddsAndSubtractsAcrossWords) {
  const Risk small{{1, 0, 0}}, full{{~std::uint64_t{0}, ~std::uint64_t{0}, 4}}, carried{{0, 0, 5}};
  EXPECT_EQ(full + small, carried);
  Risk back = carried;
  back -= small;
  EXPECT_EQ(back, full);
  EXPECT_LT(full, carried);
  EXPECT_LT(small, full);
  Risk saturated{{~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}}};
  EXPECT_EQ(saturated + carried, saturated);
}

TEST(Risk, DecreasesWithTheBucket) {
  for (const std::uint64_t l : {1u, 2u, 100u, 1u << 20})
    for (std::uint32_t bucket = 2; bucket < 8; ++bucket) {
      EXPECT_LT(risk_of_permutation(l, bucket + 1), risk_of_permutation(l, bucket))
          << l << ' ' << bucket;
      EXPECT_LT(risk_of_layers(l, bucket + 1), risk_of_layers(l, bucket)) << l << ' ' << bucket;
    }
}

}  // namespace
}  // namespace tinyot
