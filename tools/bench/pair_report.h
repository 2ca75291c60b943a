// What two commands have reported, as one report.
#pragma once

#include "tools/bench/pair.h"
#include "tools/cli/render/report.h"

namespace tinyot::tools {

// Of commands with this --format: the reports of both in one object, or their texts; the failure
// that explains the end of both, if there is one. Returns the exit status.
int print(Format format, const PairEnded& ended);

// {"A": ..., "B": ..., "wall_s": ...}; null for a party that failed.
Json joined(const PairEnded& ended);

}  // namespace tinyot::tools
