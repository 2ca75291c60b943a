// Lines on stderr, for those that write a log.
#pragma once

#include <string>
#include <string_view>

namespace tinyot::system {

enum class LogLevel { Info, Warning, Error };
std::string_view name_of(LogLevel level);  // "info", "warning", "error"

// From any thread or process: a line, without its line feed, is written at once, so that lines do
// not mix.
void write_log_line(std::string line);

}  // namespace tinyot::system
