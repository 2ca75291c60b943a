#include "service/event_log.h"

#include <unistd.h>

#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/descriptor.h"

namespace tinyot::service {
namespace {

const char* name_of(LogLevel level) {
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

std::string time_text() {
  using namespace std::chrono;
  const auto now = system_clock::now();
  const std::time_t seconds = system_clock::to_time_t(now);
  const auto ms = duration_cast<milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  char date[32], text[48];
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc);
  std::snprintf(text, sizeof text, "%s.%03dZ", date, static_cast<int>(ms));
  return text;
}

}  // namespace

void log_event(LogLevel level, const std::string& event, std::initializer_list<LogField> fields) {
  nlohmann::ordered_json line = {
      {"time", time_text()}, {"level", name_of(level)}, {"event", event}};
  for (const LogField& field : fields)
    std::visit([&](const auto& value) { line[field.name] = value; }, field.value);
  // Texts of a peer may not be UTF-8.
  (void)write_all(
      STDERR_FILENO,
      line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace tinyot::service
