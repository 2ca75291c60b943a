// The best attack on a session, by exhaustive search on tiny units: whatever units it stalls,
// reorders or breaks off, its probability of success stays within the limit of the outstanding
// risks.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "base/risk.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

struct Attack {
  double success, survival;                         // survival without success
  auto operator<=>(const Attack&) const = default;  // NOLINT(modernize-use-nullptr)
};

struct Unit {
  std::vector<Attack> attacks;
  Risk risk;
};

std::vector<Attack> distinct(const std::set<Attack>& attacks) {
  return {attacks.begin(), attacks.end()};
}

// All attacks on B layers of l objects, all but the first shifted at random; an attacked object is
// detected with probability 1/2.
Unit layers(std::uint32_t l, std::uint32_t bucket) {
  const std::uint32_t sets = 1u << l;
  const auto rotated = [&](std::uint32_t set, std::uint32_t by) {
    return ((set << by) | (set >> (l - by))) & (sets - 1);
  };
  std::set<Attack> attacks;
  for (std::uint64_t code = 1; code < std::uint64_t{1} << (l * bucket); ++code) {
    const auto layer = [&](std::uint32_t k) {
      return static_cast<std::uint32_t>(code >> (l * k)) & (sets - 1);
    };
    // The first layer is not shifted. Counts the shifts of the others that leave a common position.
    std::function<std::uint64_t(std::uint32_t, std::uint32_t)> hits =
        [&](std::uint32_t k, std::uint32_t common) -> std::uint64_t {
      if (k == bucket) return common != 0;
      std::uint64_t sum = 0;
      for (std::uint32_t by = 0; by < l; ++by) sum += hits(k + 1, common & rotated(layer(k), by));
      return sum;
    };
    const double success_given_survival =
        static_cast<double>(hits(1, layer(0))) / std::pow(l, bucket - 1);
    const double alive = std::ldexp(1.0, -std::popcount(code));
    attacks.insert({alive * success_given_survival, alive * (1 - success_given_survival)});
  }
  return {distinct(attacks), risk_of_layers(l, bucket)};
}

// All attacks on l buckets of B objects, permuted together, by the number of attacked objects.
Unit permuted(std::uint32_t l, std::uint32_t bucket) {
  const std::uint32_t objects = l * bucket;
  std::vector<std::uint64_t> sets(objects + 1), owned(objects + 1);
  for (std::uint64_t set = 1; set < std::uint64_t{1} << objects; ++set) {
    bool owns = false;
    for (std::uint32_t j = 0; j < l; ++j)
      owns |= (~set >> (j * bucket) & ((1u << bucket) - 1)) == 0;
    ++sets[static_cast<std::size_t>(std::popcount(set))];
    owned[static_cast<std::size_t>(std::popcount(set))] += owns;
  }
  std::set<Attack> attacks;
  for (std::uint32_t t = 1; t <= objects; ++t) {
    const double alive = std::ldexp(1.0, -static_cast<int>(t));
    const double success_given_survival =
        static_cast<double>(owned[t]) / static_cast<double>(sets[t]);
    attacks.insert({alive * success_given_survival, alive * (1 - success_given_survival)});
  }
  return {distinct(attacks), risk_of_permutation(l, bucket)};
}

// A session with units of `plans`, from the preferred one to the one with the largest bucket.
struct Rules {
  std::vector<Unit> plans;
  std::size_t in_flight_max;
  Risk limit;
  bool counts_units_in_flight = true;
};

// The numbers of units of each plan that were broken off, are stalled after a wrong guess, or are
// in flight and not attacked yet.
struct State {
  std::vector<int> broken, stalled, at_stake;
  auto operator<=>(const State&) const = default;  // NOLINT(modernize-use-nullptr)
};

// The probability that the best cheater ever succeeds in an unlimited session. At any time it may
// begin a unit, attack one in flight, or break off all units in flight. After a wrong guess it
// stalls the unit and attacks the others.
class BestCheater {
 public:
  explicit BestCheater(Rules rules) : rules_(std::move(rules)) {
    const std::vector<int> none(rules_.plans.size());
    reach({none, none, none});
  }

  double success() {
    // Value iteration from below: success within a limited number of moves.
    for (double change = 1; change > 1e-13;) {
      change = 0;
      for (auto& [state, value] : values_) {
        const double better = best_move(state);
        change = std::max(change, better - value);
        value = better;
      }
    }
    const std::vector<int> none(rules_.plans.size());
    return values_.at({none, none, none});
  }

 private:
  static int sum(const std::vector<int>& counts) {
    int sum = 0;
    for (const int count : counts) sum += count;
    return sum;
  }

  // The unit that may be begun: of the first plan that stays within the limit, but of a plan other
  // than the first only if no unit is in flight.
  std::vector<State> begun(const State& state) const {
    const int in_flight = sum(state.stalled) + sum(state.at_stake);
    if (in_flight >= static_cast<int>(rules_.in_flight_max)) return {};
    Risk outstanding;
    for (std::size_t plan = 0; plan < rules_.plans.size(); ++plan) {
      int count = state.broken[plan];
      if (rules_.counts_units_in_flight) count += state.stalled[plan] + state.at_stake[plan];
      for (int i = 0; i < count; ++i) outstanding += rules_.plans[plan].risk;
    }
    for (std::size_t plan = 0; plan < rules_.plans.size(); ++plan) {
      if (plan > 0 && in_flight > 0) return {};
      if (outstanding + rules_.plans[plan].risk > rules_.limit) continue;
      State next = state;
      ++next.at_stake[plan];
      return {next};
    }
    return {};
  }

  static State left(State state) {
    for (std::size_t plan = 0; plan < state.broken.size(); ++plan) {
      state.broken[plan] += state.stalled[plan] + state.at_stake[plan];
      state.stalled[plan] = state.at_stake[plan] = 0;
    }
    return state;
  }

  static State made(State state, std::size_t plan) {
    --state.at_stake[plan];
    return state;
  }

  static State lost(State state, std::size_t plan) {
    --state.at_stake[plan];
    ++state.stalled[plan];
    return state;
  }

  void reach(const State& state) {
    if (!values_.emplace(state, 0).second) return;
    for (const State& next : begun(state)) reach(next);
    reach(left(state));
    for (std::size_t plan = 0; plan < rules_.plans.size(); ++plan) {
      if (state.at_stake[plan] == 0) continue;
      reach(made(state, plan));
      reach(lost(state, plan));
    }
  }

  double best_move(const State& state) const {
    double best = values_.at(left(state));
    for (const State& next : begun(state)) best = std::max(best, values_.at(next));
    for (std::size_t plan = 0; plan < rules_.plans.size(); ++plan) {
      if (state.at_stake[plan] == 0) continue;
      const double if_made = values_.at(made(state, plan)), if_lost = values_.at(lost(state, plan));
      for (const auto& [p, s] : rules_.plans[plan].attacks)
        best = std::max(best, p + s * if_made + (1 - p - s) * if_lost);
    }
    return best;
  }

  Rules rules_;
  std::map<State, double> values_;
};

Risk times(int count, const Risk& risk) {
  Risk sum;
  for (int i = 0; i < count; ++i) sum += risk;
  return sum;
}

void expect_bounded(const Unit& unit, const std::string& name) {
  for (const int room : {1, 2, 4, 6}) {
    for (const std::size_t in_flight : {1u, 2u, 4u}) {
      const Risk limit = times(room, unit.risk);
      const double success = BestCheater({{unit}, in_flight, limit}).success();
      EXPECT_LE(success, as_double(limit)) << name << ", " << room << " outstanding, " << in_flight;
      EXPECT_GE(success, as_double(limit) / 3) << name << ": the cheater of the model is too weak";
    }
  }
}

TEST(SessionBound, HoldsForLayersWithStalledAndBrokenUnits) {
  for (const std::uint32_t l : {3u, 4u, 5u})
    for (const std::uint32_t bucket : {2u, 3u})
      expect_bounded(layers(l, bucket), std::to_string(l) + " times " + std::to_string(bucket));
}

TEST(SessionBound, HoldsForPermutationsWithStalledAndBrokenUnits) {
  for (const std::uint32_t l : {3u, 4u, 5u})
    for (const std::uint32_t bucket : {2u, 3u})
      expect_bounded(permuted(l, bucket), std::to_string(l) + " times " + std::to_string(bucket));
}

// When no further unit of the first plan fits, the rest of the limit is used by larger buckets.
TEST(SessionBound, HoldsWhenTheBucketGrows) {
  for (const auto& kind : {layers, permuted}) {
    for (const std::uint32_t l : {3u, 4u}) {
      const std::vector<Unit> plans = {kind(l, 2), kind(l, 3)};
      const Risk limit = times(2, plans[0].risk) + times(2, plans[1].risk);
      for (const std::size_t in_flight : {1u, 3u}) {
        const double success = BestCheater({plans, in_flight, limit}).success();
        EXPECT_LE(success, as_double(limit)) << l << ' ' << in_flight;
        const double of_first_alone = BestCheater({{plans[0]}, in_flight, limit}).success();
        EXPECT_GT(success, of_first_alone) << l << ' ' << in_flight;
      }
    }
  }
}

// One unit at a time: v = p + s v + (1 - p - s) v', where v' is the value after one more broken
// unit.
TEST(SessionBound, AgreesWithTheRecursionForOneUnitAtATime) {
  const Unit unit = layers(4, 2);
  double value = 0;
  for (int room = 1; room <= 6; ++room) {
    double best = 0;
    for (const auto& [p, s] : unit.attacks)
      best = std::max(best, (p + (1 - p - s) * value) / (1 - s));
    value = best;
    EXPECT_NEAR(BestCheater({{unit}, 1, times(room, unit.risk)}).success(), value, 1e-9) << room;
  }
}

// All units in flight may be stalled after wrong guesses, so counting broken units only does not
// suffice.
TEST(SessionBound, IsExceededIfUnitsInFlightAreNotCounted) {
  const Unit unit = layers(5, 2);
  const double success = BestCheater({{unit}, 4, unit.risk, false}).success();
  EXPECT_GT(success, as_double(unit.risk));
}

}  // namespace
}  // namespace tinyot
