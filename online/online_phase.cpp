#include "online/online_phase.h"

#include <string>

#include "base/error.h"

namespace tinyot::online {

const OnlinePhaseEntry& phase_on(AndMaterial form, std::optional<OnlinePhase> wanted) {
  for (const OnlinePhaseEntry* entry : online_phases()) {
    if (wanted && entry->phase != *wanted) continue;
    if (entry->runs_on(form)) return *entry;
    if (wanted)
      throw UsageError("the " + std::string(entry->name) + " phase does not run on " +
                       std::string(name_of(form)));
  }
  throw UsageError("no online phase runs on " + std::string(name_of(form)));
}

}  // namespace tinyot::online

namespace tinyot {

std::string_view name_of(OnlinePhase phase) {
  for (const online::OnlinePhaseEntry* entry : online::online_phases())
    if (entry->phase == phase) return entry->name;
  throw UsageError("there is no online phase " + std::to_string(static_cast<int>(phase)));
}

std::string_view name_of(RowCheck check) { return check == RowCheck::Early ? "early" : "batched"; }

}  // namespace tinyot
