#include "tools/selftest/adversary/scenario.h"

namespace tinyot::tools {

const std::vector<ScenarioKind>& scenario_kinds() {
  static const std::vector<ScenarioKind> kKinds = [] {
    std::vector<ScenarioKind> kinds = computations();
    for (ScenarioKind& kind : store_agreements()) kinds.push_back(std::move(kind));
    for (ScenarioKind& kind : unit_makings()) kinds.push_back(std::move(kind));
    return kinds;
  }();
  return kKinds;
}

}  // namespace tinyot::tools
