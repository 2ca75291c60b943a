// The subcommands of `tinyot`: their names, what they do, and which function runs each.
#pragma once

#include <string_view>

#include "tools/cli/command_line.h"

namespace tinyot::tools {

// Runs the subcommand that the arguments name, or prints help. Returns the exit status. Fails:
// UsageError if there is no such subcommand; as the subcommand.
int run_subcommand(const Arguments& arguments);

// Whether there is a subcommand of this full name, such as "run" or "store info".
bool is_subcommand(std::string_view name);

}  // namespace tinyot::tools
