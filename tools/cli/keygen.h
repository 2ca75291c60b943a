// `tinyot keygen`: makes a party's key and its certificate, and prints the fingerprint.
#pragma once

#include "tools/cli/command_line.h"

namespace tinyot::tools {

int keygen_command(const Arguments& arguments);

}  // namespace tinyot::tools
