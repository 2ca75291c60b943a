// `tinyot circuit list | info | eval | convert`: lists circuits, shows their costs, evaluates them
// in the clear, and writes them to files.
#pragma once

#include "tools/cli/command_line.h"

namespace tinyot::tools {

int circuit_list(const Arguments& arguments);
int circuit_info(const Arguments& arguments);
int circuit_eval(const Arguments& arguments);
int circuit_convert(const Arguments& arguments);

}  // namespace tinyot::tools
