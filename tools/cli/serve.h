// `tinyot serve`: runs the daemon of a party.
#pragma once

#include "tools/cli/command_line.h"

namespace tinyot::tools {

int serve_command(const Arguments& arguments);

}  // namespace tinyot::tools
