// `tinyot keygen`: makes a party's key, with a certificate for it, and says its fingerprint.
#pragma once

#include "tools/command_line.h"

namespace tinyot::tools {

int keygen_command(const Arguments& arguments);

}  // namespace tinyot::tools
