#include "circuitgen/formats/truth_table.h"

#include <bit>
#include <vector>

#include "base/error.h"

namespace tinyot::circuit {
namespace {

constexpr std::uint8_t kInputValues[3] = {0xaa, 0xcc, 0xf0};
constexpr unsigned kNever = 1000;

// The cost of a sum. A plan has at most five sums, so an XOR outweighs all its NOTs, and an AND all
// its XORs and NOTs.
constexpr unsigned kAndCost = 200, kXorCost = 8;
unsigned cost_of_sum(unsigned sum) {
  const int terms = std::popcount(sum & ~unsigned{kSumOne});
  return kXorCost * static_cast<unsigned>(terms > 0 ? terms - 1 : 0) +
         ((sum & kSumOne) != 0 ? 1 : 0);
}

class Search {
 public:
  Search() {
    costs_.fill(kNever);
    offer_sums({0, {}, 0}, 0, {});
    const std::vector<Product> firsts = products(16, {});
    for (const Product& first : firsts)
      offer_sums({1, {{{first.x, first.y}}}, kSumProduct[0]}, kAndCost + first.cost,
                 {first.value, 0});
    for (const Product& first : firsts) {
      for (const Product& second : products(32, {first.value, 0})) {
        AndPlan plan{2, {{{first.x, first.y}, {second.x, second.y}}}, kSumProduct[1]};
        const unsigned cost = 2 * kAndCost + first.cost + second.cost;
        offer_sums(plan, cost, {first.value, second.value});
        plan.sum |= kSumProduct[0];
        offer_sums(plan, cost, {first.value, second.value});
      }
    }
    for (const unsigned cost : costs_) ENSURE(cost < kNever);
  }

  const AndPlan& plan(std::uint8_t function) const { return plans_[function]; }

 private:
  using Values = std::array<std::uint8_t, 2>;  // of the products

  struct Product {
    std::uint8_t x, y, value;
    unsigned cost;
  };

  static std::uint8_t value_of(unsigned sum, const Values& products) {
    unsigned value = (sum & kSumOne) != 0 ? 0xff : 0;
    for (std::size_t i = 0; i < 3; ++i) value ^= (sum & kSumInput[i]) != 0 ? kInputValues[i] : 0;
    for (std::size_t i = 0; i < 2; ++i) value ^= (sum & kSumProduct[i]) != 0 ? products[i] : 0;
    return static_cast<std::uint8_t>(value);
  }

  // Products of two sums below `sums`: the cheapest for each value.
  static std::vector<Product> products(unsigned sums, const Values& before) {
    std::array<Product, 256> cheapest;
    cheapest.fill({0, 0, 0, kNever});
    for (unsigned x = 0; x < sums; ++x) {
      for (unsigned y = 0; y < x; ++y) {
        const auto value = static_cast<std::uint8_t>(value_of(x, before) & value_of(y, before));
        const unsigned cost = cost_of_sum(x) + cost_of_sum(y);
        if (cost < cheapest[value].cost)
          cheapest[value] = {static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y), value,
                             cost};
      }
    }
    std::vector<Product> found;
    for (const Product& product : cheapest) {
      if (product.cost < kNever) found.push_back(product);
    }
    return found;
  }

  // Offers all functions that are `plan` plus any sum of inputs and 1.
  void offer_sums(AndPlan plan, unsigned cost, const Values& products) {
    const std::uint8_t products_used = plan.sum;
    for (unsigned affine = 0; affine < 16; ++affine) {
      plan.sum = static_cast<std::uint8_t>(products_used | affine);
      const std::uint8_t function = value_of(plan.sum, products);
      const unsigned whole = cost + cost_of_sum(plan.sum);
      if (whole < costs_[function]) {
        costs_[function] = whole;
        plans_[function] = plan;
      }
    }
  }

  std::array<unsigned, 256> costs_;
  std::array<AndPlan, 256> plans_{};
};

}  // namespace

const AndPlan& and_plan(std::uint8_t function) {
  static const Search search;
  return search.plan(function);
}

}  // namespace tinyot::circuit
