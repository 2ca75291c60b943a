// The end of a command that failed: its message on stderr, its exit status.
#pragma once

#include <string>

namespace tinyot {

// To be called in a catch block: prints the current exception, `prefix` in front, and returns its exit status.
int report_failure(const std::string& prefix);

}  // namespace tinyot
