// The interactive phase: NNOB12 Fig. 6, half a round trip or more a layer (runtime.h).
#pragma once

#include "online/online_phase.h"

namespace tinyot::online {

extern const OnlinePhaseEntry kInteractivePhase;

}  // namespace tinyot::online
