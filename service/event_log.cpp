#include "service/event_log.h"

#include <atomic>
#include <nlohmann/json.hpp>

#include "system/clock.h"

namespace tinyot::service {
namespace {

std::atomic<LogLevel> least_level = LogLevel::Info;

}  // namespace

void set_log_level(LogLevel level) { least_level = level; }

void log_event(LogLevel level, const std::string& event, std::initializer_list<LogField> fields) {
  if (level < least_level) return;
  nlohmann::ordered_json line = {
      {"time", system::utc_text_ms()}, {"level", name_of(level)}, {"event", event}};
  for (const LogField& field : fields)
    std::visit([&](const auto& value) { line[field.name] = value; }, field.value);
  // Texts of a peer may not be UTF-8.
  system::write_log_line(
      line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace tinyot::service
