// What a daemon reports while it runs: a line on stderr for each event, which is one JSON object
// {"time", "level", "event", ...}, with the time in the form of RFC 3339. No field holds a secret,
// an input or an output.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <variant>

#include "system/log.h"

namespace tinyot::service {

using system::LogLevel;

struct LogField {
  std::string name;
  std::variant<std::string, std::uint64_t, double> value;
};

// Lines of lower levels are not written from now on; at first all are. Of the process, as stderr
// is.
void set_log_level(LogLevel level);

// From any thread: a line is written at once.
void log_event(LogLevel level, const std::string& event, std::initializer_list<LogField> fields);

}  // namespace tinyot::service
