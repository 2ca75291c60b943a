// The paper's protocols: aANDs, aOTs and aBits, or triples made from them.
#pragma once

#include "offline/profile.h"

namespace tinyot::offline {

extern const ProfileEntry kNnob12Profile;

}  // namespace tinyot::offline
