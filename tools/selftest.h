// `tinyot selftest --adversary`: sessions in which one party cheats, and what becomes of the other one.
#pragma once

#include "tools/command_line.h"

namespace tinyot {

int selftest_command(const Arguments& arguments);

}  // namespace tinyot
