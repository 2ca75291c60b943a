// `tinyot params`: what a preprocessing job would reach and cost, before anything runs.
#pragma once

#include "tools/command_line.h"

namespace tinyot::tools {

int params_command(const Arguments& arguments);

}  // namespace tinyot::tools
