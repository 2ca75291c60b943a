// The constant-round phase (garbled_run.h).
#pragma once

#include "online/online_phase.h"

namespace tinyot::online {

extern const OnlinePhaseEntry kGarbledPhase;

}  // namespace tinyot::online
