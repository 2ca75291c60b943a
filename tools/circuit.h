// `tinyot circuit list | info | eval | convert`: lists circuits, shows their costs, evaluates them
// in the clear, and writes them to files.
#pragma once

#include "tools/command_line.h"

namespace tinyot::tools {

int circuit_command(const Arguments& arguments);

}  // namespace tinyot::tools
