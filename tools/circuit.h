// `tinyot circuit list | info | eval | convert`: what circuits there are, what they cost, what they
// compute in the clear, and any of them as a file.
#pragma once

#include "tools/command_line.h"

namespace tinyot::tools {

int circuit_command(const Arguments& arguments);

}  // namespace tinyot::tools
