// The bound of layers with cyclic shifts, by exact calculation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/bounds.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

// The attacked objects of each layer.
using LayersAttack = std::vector<std::vector<bool>>;

// The expected number of wholly attacked buckets over all shifts, times the probability that the
// attack survives.
double yield_of(const LayersAttack& attack) {
  const std::size_t l = attack[0].size();
  double attacked = 0, buckets = 0, choices = 0;
  for (const auto& layer : attack)
    attacked += static_cast<double>(std::count(layer.begin(), layer.end(), true));
  std::vector<std::size_t> shift(attack.size() - 1, 0);
  for (;;) {
    for (std::size_t j = 0; j < l; ++j) {
      bool whole = attack[0][j];
      for (std::size_t k = 1; k < attack.size(); ++k)
        whole = whole && attack[k][(j + shift[k - 1]) % l];
      buckets += whole;
    }
    ++choices;
    std::size_t k = 0;
    while (k < shift.size() && ++shift[k] == l) shift[k++] = 0;
    if (k == shift.size()) return std::exp2(-attacked) * buckets / choices;
  }
}

LayersAttack attack_of_bits(std::uint64_t bits, std::size_t l, std::size_t bucket) {
  LayersAttack attack(bucket, std::vector<bool>(l));
  for (std::size_t i = 0; i < l * bucket; ++i) attack[i / l][i % l] = (bits >> i) & 1;
  return attack;
}

TEST(LayersBound, EqualsTheBestAttackByEnumeration) {
  for (const auto& [l, bucket] : {std::pair<std::size_t, std::size_t>{1, 2},
                                  {2, 2},
                                  {3, 2},
                                  {4, 2},
                                  {5, 2},
                                  {6, 2},
                                  {2, 3},
                                  {3, 3},
                                  {4, 3},
                                  {2, 4},
                                  {3, 4}}) {
    double best = 0;
    for (std::uint64_t bits = 0; bits < std::uint64_t{1} << (l * bucket); ++bits)
      best = std::max(best, yield_of(attack_of_bits(bits, l, bucket)));
    EXPECT_NEAR(layers_bound_bits(l, static_cast<std::uint32_t>(bucket)), -std::log2(best), 1e-9)
        << "l = " << l << ", B = " << bucket;
  }
}

TEST(LayersBound, HasTheDocumentedValues) {
  EXPECT_DOUBLE_EQ(layers_bound_bits(1 << 20, 3), 43);
  EXPECT_DOUBLE_EQ(layers_bound_bits(1 << 18, 4), 4 + 54);
}

TEST(LayersBound, IsOneBitMoreThanThePaperBound) {
  for (std::uint64_t l = 128; l <= 1 << 24; l *= 2)
    for (std::uint32_t bucket = 2; bucket < 12; ++bucket)
      EXPECT_NEAR(layers_bound_bits(l, bucket), paper_bound_bits(l, bucket) + 1, 1e-9)
          << l << ", " << bucket;
}

}  // namespace
}  // namespace tinyot
