#include "offline/profile.h"

#include <algorithm>

#include "base/error.h"

namespace tinyot::offline {

const ProfileEntry& entry_of(Profile profile) {
  const auto all = profiles();
  const auto found = std::ranges::find(all, profile, &ProfileEntry::profile);
  ENSURE(found != all.end());
  return **found;
}

}  // namespace tinyot::offline

namespace tinyot {

std::string_view name_of(Profile profile) { return offline::entry_of(profile).name; }

std::string_view name_of(Columns columns) {
  return columns == Columns::Theorem ? "theorem" : "experiment";
}

}  // namespace tinyot
