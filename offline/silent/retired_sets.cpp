#include <algorithm>

#include "offline/silent/parameter_sets.h"

namespace tinyot::offline {
namespace {

// Their codes have ten to twenty outputs for a bit of the secret, with a wrong one in each of 640
// to 1,280 blocks: too many rows without noise (doc/wan_profile.md). The bits are those at which no
// denser minor of the code is expected to exist.
constexpr std::string_view kDenseMinors =
    "a dense minor of its code gives the secret after about 2^71 operations";

constexpr auto kRetiredSets =
    std::to_array<RetiredSet>({{LpnSet::S10, LpnSet::B9, 71.1, kDenseMinors},
                               {LpnSet::S11, LpnSet::B10, 71.3, kDenseMinors},
                               {LpnSet::S12, LpnSet::B11, 70.7, kDenseMinors},
                               {LpnSet::S13, LpnSet::B12, 70.9, kDenseMinors}});

}  // namespace

const RetiredSet* find_retired(LpnSet name) {
  const auto* found = std::ranges::find(kRetiredSets, name, &RetiredSet::name);
  return found == kRetiredSets.end() ? nullptr : found;
}

}  // namespace tinyot::offline
