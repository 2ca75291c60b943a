// Triples from silent bits and bit triples (doc/wan_profile.md).
#pragma once

#include "offline/profile.h"

namespace tinyot::offline {

extern const ProfileEntry kWanProfile;

}  // namespace tinyot::offline
