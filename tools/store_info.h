// `tinyot store info DIR`: what is in a store.
#pragma once

#include "tools/command_line.h"

namespace tinyot {

int store_command(const Arguments& arguments);

}  // namespace tinyot
