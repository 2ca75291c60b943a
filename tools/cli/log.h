// Lines on stderr.
#pragma once

#include <string>

#include "system/log.h"

namespace tinyot::tools {

using system::LogLevel;

// "tinyot: text" on a terminal; elsewhere the line begins with the time and the level, as
// "2026-01-31T23:59:59Z WARNING tinyot: text". Another `sender` is a party of a pair. From any
// thread or process: a line is written at once, so that lines do not mix.
void log_line(LogLevel level, const std::string& text, const std::string& sender = "tinyot");

}  // namespace tinyot::tools
