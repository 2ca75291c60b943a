// Lines on stderr.
#pragma once

#include <string>

#include "system/log.h"

namespace tinyot::tools {

using system::LogLevel;

// The variable that names a party's letter to the command of a pair.
inline constexpr const char* kPartyVariable = "TINYOT_PARTY_OF_PAIR";

// Whether lines of level Info are not written from now on. Of the process, as stderr is.
void set_quiet(bool quiet);

// "tinyot: text" on a terminal, or "A: text" by a command of a pair; elsewhere the line begins with
// the time and the level, as "2026-01-31T23:59:59Z WARNING tinyot: text". From any thread or
// process: a line is written at once, so that lines do not mix.
void log_line(LogLevel level, const std::string& text);

}  // namespace tinyot::tools
