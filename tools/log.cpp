#include "tools/log.h"

#include <unistd.h>

#include <ctime>
#include <iostream>

namespace tinyot::tools {
namespace {

std::string name_of(LogLevel level) {
  switch (level) {
    case LogLevel::Info:
      return "INFO";
    case LogLevel::Warning:
      return "WARNING";
    case LogLevel::Error:
      break;
  }
  return "ERROR";
}

}  // namespace

void log_line(LogLevel level, const std::string& text, const std::string& sender) {
  std::string line = sender + ": " + text + "\n";
  if (::isatty(STDERR_FILENO) == 1) {
    if (level == LogLevel::Warning) line = sender + ": warning: " + text + "\n";
  } else {
    line = date_text() + " " + name_of(level) + " " + line;
  }
  std::cerr << line << std::flush;
}

std::string date_text() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

}  // namespace tinyot::tools
