// The phase that opens before the inputs what does not depend on them.
#pragma once

#include "online/online_phase.h"

namespace tinyot::online {

extern const OnlinePhaseEntry kMaskedPhase;

}  // namespace tinyot::online
