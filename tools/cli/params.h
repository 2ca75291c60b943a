// `tinyot params`: security and cost of a preprocessing job, before anything runs.
#pragma once

#include "tools/cli/command_line.h"

namespace tinyot::tools {

int params_command(const Arguments& arguments);

}  // namespace tinyot::tools
