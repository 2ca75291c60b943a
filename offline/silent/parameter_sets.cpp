#include "offline/silent/parameter_sets.h"

#include <algorithm>
#include <string>

#include "base/error.h"

namespace tinyot {
namespace {

// In the order of LpnSet.
constexpr std::array<std::string_view, 8> kLpnSetNames = {"s10", "s11", "s12", "s13",
                                                          "b9",  "b10", "b11", "b12"};

}  // namespace

std::string_view name_of(LpnSet set) { return kLpnSetNames.at(static_cast<std::size_t>(set)); }

}  // namespace tinyot

namespace tinyot::offline {
namespace {

constexpr bool is_usable(const SilentSet& set) {
  return set.trees % kTreesPerKey == 0 && set.depth >= 7 && set.secret_log >= 7 &&
         set.secret_log <= 21 && set.reserve() % kKappa == 0 && set.net() % kKappa == 0 &&
         set.reserve() < set.outputs() && set.reserve() <= kStartSet.outputs();
}
static_assert(std::ranges::all_of(kSilentSets, is_usable));

}  // namespace

std::string RetiredSet::refusal() const {
  return "silent-set " + std::string(name_of(name)) + " is retired: " + std::string(reason) +
         "; use " + std::string(name_of(successor)) +
         ", and a new store in place of one that was begun with " + std::string(name_of(name)) +
         " (doc/wan_profile.md)";
}

const RetiredSet* find_retired(const ProfileParameters& parameters) {
  const auto lpn = lpn_of(parameters);
  return lpn ? find_retired(lpn->set) : nullptr;
}

const SilentSet& silent_set(LpnSet name) {
  if (const RetiredSet* retired = find_retired(name)) throw UsageError(retired->refusal());
  const auto* found = std::ranges::find(kSilentSets, name, &SilentSet::name);
  ENSURE(found != kSilentSets.end());
  return *found;
}

LpnSet lpn_set_named(std::string_view name) {
  const auto* found = std::ranges::find(kLpnSetNames, name);
  if (found != kLpnSetNames.end()) return static_cast<LpnSet>(found - kLpnSetNames.begin());
  std::string used;
  for (const SilentSet& set : kSilentSets)
    used += (used.empty() ? "" : ", ") + std::string(name_of(set.name));
  throw UsageError("silent-set " + std::string(name) + " is not one of " + used);
}

}  // namespace tinyot::offline
