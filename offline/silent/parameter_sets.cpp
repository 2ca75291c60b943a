#include "offline/silent/parameter_sets.h"

#include <algorithm>
#include <string>

#include "base/error.h"

namespace tinyot::offline {
namespace {

constexpr bool is_usable(const SilentSet& set) {
  return set.trees % kTreesPerKey == 0 && set.depth >= 7 && set.secret_log >= 7 &&
         set.secret_log <= 21 && set.reserve() % kKappa == 0 && set.net() % kKappa == 0 &&
         set.reserve() < set.outputs() && set.reserve() <= kStartSet.outputs();
}
static_assert(std::ranges::all_of(kSilentSets, is_usable));

}  // namespace

const SilentSet& silent_set(std::string_view name) {
  const auto found = std::ranges::find(kSilentSets, name, &SilentSet::name);
  if (found == kSilentSets.end())
    throw UsageError("silent-set " + std::string(name) + " is not s10, s11, s12 or s13");
  return *found;
}

}  // namespace tinyot::offline
