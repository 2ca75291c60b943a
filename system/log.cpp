#include "system/log.h"

#include <unistd.h>

#include "system/descriptor.h"

namespace tinyot::system {

std::string_view name_of(LogLevel level) {
  switch (level) {
    case LogLevel::Info:
      return "info";
    case LogLevel::Warning:
      return "warning";
    case LogLevel::Error:
      break;
  }
  return "error";
}

void write_log_line(std::string line) {
  line += '\n';
  (void)write_all(STDERR_FILENO, line);
}

}  // namespace tinyot::system
