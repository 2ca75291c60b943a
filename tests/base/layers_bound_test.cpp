// The bounds of layers that are folded in tossed orders, by exact calculation: cyclic shifts where each leaky triple is checked, why they
// do not do for the deferred check, and the order that does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "base/parameters.h"

namespace tinyot {
namespace {

// What is attacked of each layer.
using Attack = std::vector<std::vector<bool>>;
using Order = std::vector<std::size_t>;  // the place in layer k of what meets triple j of layer 0

// What an attack yields, times how likely it is to survive, over all orders: the expected number of wholly attacked buckets (`buckets`),
// and the chance that there is one at all (`any`).
struct Yield {
  double buckets = 0, any = 0;
  Yield& operator+=(const Yield& more) {
    buckets += more.buckets;
    any += more.any;
    return *this;
  }
};

// One way for the layers to meet.
Yield yield_of(const Attack& attack, const std::vector<Order>& orders, TripleCheck check) {
  double coins = 0, whole = 0;
  for (std::size_t j = 0; j < attack[0].size(); ++j) {
    std::size_t attacked = attack[0][j];
    for (std::size_t k = 1; k < attack.size(); ++k) attacked += attack[k][orders[k - 1][j]];
    whole += attacked == attack.size();
    coins += static_cast<double>(check == TripleCheck::Each ? attacked : std::min<std::size_t>(attacked, 1));
  }
  const double survival = std::exp2(-coins);
  return {survival * whole, whole > 0 ? survival : 0};
}

// The mean over all choices of one of `orders` for each layer but the first.
Yield mean_yield(const Attack& attack, const std::vector<Order>& orders, TripleCheck check) {
  Yield sum;
  std::vector<std::size_t> choice(attack.size() - 1, 0);
  double choices = 0;
  for (;;) {
    std::vector<Order> chosen;
    for (const std::size_t c : choice) chosen.push_back(orders[c]);
    sum += yield_of(attack, chosen, check);
    ++choices;
    std::size_t k = 0;
    while (k < choice.size() && ++choice[k] == orders.size()) choice[k++] = 0;
    if (k == choice.size()) return {sum.buckets / choices, sum.any / choices};
  }
}

std::vector<Order> shifts(std::size_t l) {
  std::vector<Order> orders;
  for (std::size_t r = 0; r < l; ++r)
    for (std::size_t j = (orders.emplace_back(), 0); j < l; ++j) orders.back().push_back((j + r) % l);
  return orders;
}

// Shifts of whole segments of n, each segment permuted within itself.
std::vector<Order> segment_orders(std::size_t n, std::size_t segments) {
  std::vector<Order> permutations, orders;
  Order permutation(n);
  std::iota(permutation.begin(), permutation.end(), std::size_t{0});
  do permutations.push_back(permutation);
  while (std::next_permutation(permutation.begin(), permutation.end()));
  for (std::size_t r = 0; r < segments; ++r) {
    std::vector<std::size_t> of(segments, 0);
    for (;;) {
      Order& order = orders.emplace_back();
      for (std::size_t s = 0; s < segments; ++s)
        for (std::size_t i = 0; i < n; ++i) order.push_back((s + r) % segments * n + permutations[of[s]][i]);
      std::size_t s = 0;
      while (s < segments && ++of[s] == permutations.size()) of[s++] = 0;
      if (s == segments) break;
    }
  }
  return orders;
}

Attack attack_of_bits(std::uint64_t bits, std::size_t l, std::size_t bucket) {
  Attack attack(bucket, std::vector<bool>(l));
  for (std::size_t i = 0; i < l * bucket; ++i) attack[i / l][i % l] = (bits >> i) & 1;
  return attack;
}

Attack attack_at(const std::vector<std::size_t>& places, std::size_t l, std::size_t bucket) {
  std::vector<bool> layer(l);
  for (const std::size_t place : places) layer[place] = true;
  return Attack(bucket, layer);
}

TEST(LayersBound, WhereEachTripleIsCheckedItIsTheBestAttackOfAll) {
  for (const auto& [l, bucket] :
       {std::pair<std::size_t, std::size_t>{1, 2}, {2, 2}, {3, 2}, {4, 2}, {5, 2}, {6, 2}, {2, 3}, {3, 3}, {4, 3}, {2, 4}, {3, 4}}) {
    const auto orders = shifts(l);
    double best = 0;
    for (std::uint64_t bits = 0; bits < std::uint64_t{1} << (l * bucket); ++bits)
      best = std::max(best, mean_yield(attack_of_bits(bits, l, bucket), orders, TripleCheck::Each).buckets);
    EXPECT_NEAR(layers_bound_bits(l, static_cast<std::uint32_t>(bucket), TripleCheck::Each), -std::log2(best), 1e-9)
        << "l = " << l << ", B = " << bucket;
  }
}

// The deferred check with cyclic shifts, B = 3: 1/2.l^-2 is what one triple of each layer yields, and it is not the most.
TEST(LayersBound, CyclicShiftsWouldNotReachTheBoundOfTheDeferredCheck) {
  constexpr std::size_t l = 16;
  const auto orders = shifts(l);
  const auto times_l2 = [&](const std::vector<std::size_t>& places) {
    const Yield mean = mean_yield(attack_at(places, l, 3), orders, TripleCheck::Deferred);
    return Yield{mean.buckets * l * l, mean.any * l * l};
  };
  const Yield one = times_l2({5}), neighbours = times_l2({5, 6}), coset = times_l2({0, 4, 8});
  EXPECT_DOUBLE_EQ(one.buckets, 0.5);
  EXPECT_DOUBLE_EQ(one.any, 0.5);
  // Two side by side: 1/4 where all layers are aligned, 1/8 in six other positions; aligned, there are two buckets at once.
  EXPECT_DOUBLE_EQ(neighbours.any, 1.0);
  EXPECT_DOUBLE_EQ(neighbours.buckets, 5.0 / 4);
  // Three of a coset of four.
  EXPECT_DOUBLE_EQ(coset.any, 17.0 / 16);
  EXPECT_DOUBLE_EQ(coset.buckets, 15.0 / 8);
}

// f_t of base/parameters.h for segments of n, apart from the engine.
double f(std::size_t n, std::size_t bucket, std::size_t t) {
  const double b = static_cast<double>(bucket), attacks = static_cast<double>(t);
  const double together = std::pow(attacks, b) * std::exp2(-attacks);
  if (t >= n) return together;
  const double collision = b * (attacks - 1) / static_cast<double>(n - t);
  double factor = 0;
  for (double s = 1; s <= attacks; ++s) factor = std::max(factor, s * std::exp2(1 - s) * std::pow(1 + collision, s - 1));
  return std::min(together, 0.5 * std::pow(factor, b));
}

double binomial(std::size_t n, std::size_t k) {
  return k > n ? 0 : std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(static_cast<double>(n - k) + 1));
}

// One segment of each layer, of which counts[k] triples are attacked, wherever: the segments meet in uniform orders, so that what is attacked of
// each is a uniform set. survival: E[2^-touched]; whole: E[buckets wholly attacked . 2^-touched].
struct SegmentYield {
  double survival = 0, whole = 0;
};
SegmentYield segment_yield(std::size_t n, const std::vector<std::size_t>& counts) {
  std::map<std::pair<std::size_t, std::size_t>, double> chances = {{{counts[0], counts[0]}, 1.0}};  // of (touched, wholly attacked so far)
  for (std::size_t k = 1; k < counts.size(); ++k) {
    std::map<std::pair<std::size_t, std::size_t>, double> next;
    for (const auto& [state, chance] : chances) {
      const auto [touched, whole] = state;
      for (std::size_t of_whole = 0; of_whole <= std::min(whole, counts[k]); ++of_whole) {
        for (std::size_t of_touched = 0; of_touched + of_whole <= counts[k] && of_touched <= touched - whole; ++of_touched) {
          const std::size_t fresh = counts[k] - of_whole - of_touched;
          if (touched + fresh > n) continue;
          next[{touched + fresh, of_whole}] +=
              chance * binomial(whole, of_whole) * binomial(touched - whole, of_touched) * binomial(n - touched, fresh) / binomial(n, counts[k]);
        }
      }
    }
    chances = std::move(next);
  }
  SegmentYield yield;
  for (const auto& [state, chance] : chances) {
    yield.survival += chance * std::exp2(-static_cast<double>(state.first));
    yield.whole += chance * std::exp2(-static_cast<double>(state.first)) * static_cast<double>(state.second);
  }
  return yield;
}

// counts[k][s]: how many triples of segment s of layer k are attacked. Exactly the mean over all shifts of segments and all permutations.
using Counts = std::vector<std::vector<std::size_t>>;

class SegmentModel {
 public:
  explicit SegmentModel(std::size_t n) : n_(n) {}

  double buckets(const Counts& counts) {
    const std::size_t segments = counts[0].size();
    std::vector<std::size_t> shift(counts.size() - 1, 0);
    double sum = 0, shifts = 0;
    for (;;) {
      double survival = 1, whole = 0;  // of the segments so far
      for (std::size_t s = 0; s < segments; ++s) {
        std::vector<std::size_t> met = {counts[0][s]};
        for (std::size_t k = 1; k < counts.size(); ++k) met.push_back(counts[k][(s + shift[k - 1]) % segments]);
        std::sort(met.begin(), met.end());
        auto [at, is_new] = known_.try_emplace(met);
        if (is_new) at->second = segment_yield(n_, met);
        whole = whole * at->second.survival + survival * at->second.whole;
        survival *= at->second.survival;
      }
      sum += whole;
      ++shifts;
      std::size_t k = 0;
      while (k < shift.size() && ++shift[k] == segments) shift[k++] = 0;
      if (k == shift.size()) return sum / shifts;
    }
  }

 private:
  std::size_t n_;
  std::map<std::vector<std::size_t>, SegmentYield> known_;
};

std::size_t largest_layer(const Counts& counts) {
  std::size_t most = 0;
  for (const auto& layer : counts) most = std::max(most, std::accumulate(layer.begin(), layer.end(), std::size_t{0}));
  return most;
}

Counts counts_of(const Attack& attack, std::size_t n) {
  Counts counts;
  for (const auto& layer : attack)
    for (std::size_t s = (counts.emplace_back(), 0); s * n < layer.size(); ++s)
      counts.back().push_back(
          static_cast<std::size_t>(std::count(layer.begin() + static_cast<long>(s * n), layer.begin() + static_cast<long>((s + 1) * n), true)));
  return counts;
}

// All orders of small models one by one: the calculation by counts is right, and f bounds them.
TEST(LayersBound, OfSegmentsBoundsEveryAttackOnSmallModels) {
  std::mt19937_64 engine(1);
  for (const auto& [n, segments, bucket, attacks] : {std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>{2, 2, 2, 256},
                                                     {2, 3, 2, 4096},
                                                     {2, 2, 3, 4096},
                                                     {3, 2, 2, 4096},
                                                     {3, 2, 3, 100},
                                                     {3, 3, 2, 100},
                                                     {4, 2, 2, 100},
                                                     {2, 3, 3, 100}}) {
    const std::size_t l = n * segments, all = std::size_t{1} << (l * bucket);
    const auto orders = segment_orders(n, segments);
    SegmentModel model(n);
    for (std::size_t i = 0; i < attacks; ++i) {
      const Attack attack = attack_of_bits(attacks == all ? i : engine(), l, bucket);
      const Counts counts = counts_of(attack, n);
      if (largest_layer(counts) == 0) continue;
      const double mean = mean_yield(attack, orders, TripleCheck::Deferred).buckets;
      ASSERT_NEAR(model.buckets(counts), mean, 1e-12);
      ASSERT_LE(mean, f(n, bucket, largest_layer(counts)) * std::pow(l, 1.0 - static_cast<double>(bucket)) * (1 + 1e-12))
          << n << ", " << segments << ", " << bucket;
    }
  }
}

// All ways to spread up to `most` attacks over the segments of a layer.
std::vector<std::vector<std::size_t>> spreads(std::size_t segments, std::size_t most) {
  if (segments == 0) return {{}};
  std::vector<std::vector<std::size_t>> all;
  for (std::size_t here = 0; here <= most; ++here)
    for (std::vector<std::size_t>& rest : spreads(segments - 1, most - here)) {
      rest.insert(rest.begin(), here);
      all.push_back(std::move(rest));
    }
  return all;
}

struct Model {
  std::size_t n, segments, bucket, most;
};

// The best attack with at most `most` attacks a layer, in l^(1-B). Each attack is held to its own f_t.
double best_attack(const Model& model) {
  const auto layers = spreads(model.segments, model.most);
  SegmentModel exact(model.n);
  const double unit = std::pow(static_cast<double>(model.n * model.segments), 1 - static_cast<double>(model.bucket));
  std::vector<std::size_t> choice(model.bucket, 1);  // the first spread has no attack
  double best = 0;
  for (;;) {
    Counts counts;
    for (const std::size_t c : choice) counts.push_back(layers[c]);
    const double yield = exact.buckets(counts) / unit;
    best = std::max(best, yield);
    if (yield > f(model.n, model.bucket, largest_layer(counts)) * (1 + 1e-9)) {
      ADD_FAILURE() << "n = " << model.n << ", B = " << model.bucket << ": yields " << yield << " with " << largest_layer(counts)
                    << " attacks on a layer";
      return best;
    }
    std::size_t k = 0;
    while (k < choice.size() && ++choice[k] == layers.size()) choice[k++] = 1;
    if (k == choice.size()) return best;
  }
}

TEST(LayersBound, OfSegmentsBoundsEverySmallAttackExactly) {
  for (const Model& model :
       {Model{8, 2, 2, 6}, {8, 2, 3, 4}, {8, 3, 3, 3}, {16, 2, 3, 4}, {128, 2, 2, 6}, {128, 2, 3, 4}, {128, 3, 3, 3}, {128, 2, 4, 2}}) {
    const double best = best_attack(model);
    EXPECT_GE(best, 0.5 - 1e-9) << "one attack a layer";
    if (model.n != kSegmentTriples) continue;
    // What the program reckons with bounds it, up to a bit where the bucket is that of large units.
    const std::uint64_t l = model.n * model.segments;
    const double reckoned = std::exp2(-layers_bound_bits(l, static_cast<std::uint32_t>(model.bucket), TripleCheck::Deferred) +
                                      (static_cast<double>(model.bucket) - 1) * std::log2(static_cast<double>(l)));
    EXPECT_LE(best, reckoned);
    EXPECT_LT(reckoned, model.bucket <= 3 ? 1.0 : 4.0);
  }
}

// Equally many attacks on each layer, all in one segment, up to the whole of it: many at once collide more, and cost more.
TEST(LayersBound, OfSegmentsBoundsLargeAttacksOnOneSegment) {
  for (const std::size_t bucket : {2u, 3u, 4u})
    for (std::size_t t = 1; t <= (bucket == 2 ? kSegmentTriples : 30); ++t)
      EXPECT_LE(
          segment_yield(kSegmentTriples, std::vector<std::size_t>(bucket, t)).whole / std::pow(kSegmentTriples, 1 - static_cast<double>(bucket)),
          f(kSegmentTriples, bucket, t) * (1 + 1e-9))
          << bucket << ", " << t;
}

TEST(LayersBound, IsTheLargestOfItsTerms) {
  for (const std::size_t bucket : {2u, 3u, 4u, 5u, 8u}) {
    double worst = 0;
    for (std::size_t t = 1; t <= 4096; ++t) worst = std::max(worst, f(kSegmentTriples, bucket, t));
    for (const double log2_l : {7.0, 10.0, 20.0})
      EXPECT_NEAR(layers_bound_bits(static_cast<std::uint64_t>(std::exp2(log2_l)), static_cast<std::uint32_t>(bucket), TripleCheck::Deferred),
                  log2_l * static_cast<double>(bucket - 1) - std::log2(worst), 1e-9)
          << bucket;
  }
}

TEST(LayersBound, HasTheValuesThatTheProtocolPageGives) {
  EXPECT_DOUBLE_EQ(layers_bound_bits(1 << 20, 3, TripleCheck::Each), 43);
  EXPECT_GE(layers_bound_bits(1 << 20, 3, TripleCheck::Deferred), 40);
  EXPECT_LE(layers_bound_bits(1 << 20, 3, TripleCheck::Deferred), 41);
  EXPECT_DOUBLE_EQ(layers_bound_bits(1 << 18, 4, TripleCheck::Each), 4 + 54);
  for (std::uint64_t l = 128; l <= 1 << 24; l *= 2)
    for (std::uint32_t bucket = 2; bucket < 12; ++bucket) {
      EXPECT_LT(layers_bound_bits(l, bucket, TripleCheck::Deferred), layers_bound_bits(l, bucket, TripleCheck::Each));
      EXPECT_GE(layers_bound_bits(l, bucket, TripleCheck::Each), paper_bound_bits(l, bucket));
    }
}

}  // namespace
}  // namespace tinyot
