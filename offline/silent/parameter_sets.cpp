#include "offline/silent/parameter_sets.h"

#include <algorithm>
#include <string>

#include "base/error.h"

namespace tinyot {

std::string_view name_of(LpnSet set) {
  static constexpr std::array<std::string_view, 4> kNames = {"s10", "s11", "s12", "s13"};
  return kNames.at(static_cast<std::size_t>(set));
}

}  // namespace tinyot

namespace tinyot::offline {
namespace {

constexpr bool is_usable(const SilentSet& set) {
  return &silent_set(set.name) == &set && set.trees % kTreesPerKey == 0 && set.depth >= 7 &&
         set.secret_log >= 7 && set.secret_log <= 21 && set.reserve() % kKappa == 0 &&
         set.net() % kKappa == 0 && set.reserve() < set.outputs() &&
         set.reserve() <= kStartSet.outputs();
}
static_assert(std::ranges::all_of(kSilentSets, is_usable));

}  // namespace

LpnSet lpn_set_named(std::string_view name) {
  std::string known;
  for (const SilentSet& set : kSilentSets) {
    if (name == name_of(set.name)) return set.name;
    known += (known.empty() ? "" : ", ") + std::string(name_of(set.name));
  }
  throw UsageError("silent-set " + std::string(name) + " is not one of " + known);
}

void require_in_use(LpnSet name) {
  const std::string_view reason = why_retired(name);
  if (!reason.empty())
    throw UsageError("silent-set " + std::string(name_of(name)) +
                     " is retired: " + std::string(reason) +
                     "; use another one, and see doc/wan_profile.md for stores made with it");
}

}  // namespace tinyot::offline
