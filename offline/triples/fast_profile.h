// Triples from SoftSpokenOT and leaky triples in layers (doc/fast_profile.md).
#pragma once

#include "offline/profile.h"

namespace tinyot::offline {

extern const ProfileEntry kFastProfile;

}  // namespace tinyot::offline
