#include "offline/silent/parameter_sets.h"

namespace tinyot::offline {

// No set is retired.
std::string_view why_retired(LpnSet) { return {}; }

}  // namespace tinyot::offline
