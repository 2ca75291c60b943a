#include <array>

#include "offline/nnob12/nnob12_profile.h"
#include "offline/triples/fast_profile.h"
#include "offline/wan/wan_profile.h"

namespace tinyot::offline {

std::span<const ProfileEntry* const> profiles() {
  static constexpr std::array<const ProfileEntry*, 3> kProfiles = {&kNnob12Profile, &kFastProfile,
                                                                   &kWanProfile};
  return kProfiles;
}

}  // namespace tinyot::offline
