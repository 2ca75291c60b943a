#include <array>

#include "online/garbled/garbled_phase.h"
#include "online/interactive/interactive_phase.h"
#include "online/masked/masked_phase.h"
#include "online/online_phase.h"

namespace tinyot::online {

std::span<const OnlinePhaseEntry* const> online_phases() {
  static constexpr std::array<const OnlinePhaseEntry*, 3> kPhases = {&kInteractivePhase,
                                                                     &kGarbledPhase, &kMaskedPhase};
  return kPhases;
}

}  // namespace tinyot::online
