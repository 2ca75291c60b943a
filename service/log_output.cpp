#include "service/log_output.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"
#include "service/event_log.h"
#include "system/errno_text.h"

namespace tinyot::service {
namespace {

constexpr mode_t kLogMode = 0640;

LogLevel level_of(const config::Log& log) {
  switch (log.level()) {
    case config::INFO:
      return LogLevel::Info;
    case config::WARNING:
      return LogLevel::Warning;
    case config::ERROR:
      break;
  }
  return LogLevel::Error;
}

system::Descriptor open_log(const config::Log& log) {
  system::Descriptor file(
      ::open(log.file().c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, kLogMode));
  if (!file.is_open())
    throw UsageError("log.file: cannot write " + log.file() + ": " + system::errno_text());
  return file;
}

}  // namespace

LogOutput::LogOutput() : former_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)) {}

LogOutput::~LogOutput() {
  set_log_level(LogLevel::Info);
  if (former_.is_open()) ::dup2(former_.get(), STDERR_FILENO);
}

void LogOutput::use(const config::Log& log) {
  config::Log next = log;
  if (log.has_file()) {
    const system::Descriptor file = open_log(log);
    if (::dup2(file.get(), STDERR_FILENO) < 0)
      throw UsageError("log.file: " + log.file() + ": " + system::errno_text());
  } else if (former_.is_open()) {
    ::dup2(former_.get(), STDERR_FILENO);
  }
  set_log_level(level_of(log));
  log_.Swap(&next);
}

void LogOutput::check(const config::Log& log) {
  if (!log.has_file()) return;
  if (!std::filesystem::path(log.file()).is_absolute())
    throw UsageError("log.file: give an absolute path, not " + log.file());
  std::error_code error;
  const auto status = std::filesystem::status(log.file(), error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw UsageError("log.file: " + log.file() + " is there, and is not a file");
  const std::filesystem::path place = std::filesystem::exists(status)
                                          ? std::filesystem::path(log.file())
                                          : std::filesystem::path(log.file()).parent_path();
  if (::access(place.c_str(), W_OK) != 0)
    throw UsageError("log.file: cannot write " + place.string() + ": " + system::errno_text());
}

}  // namespace tinyot::service
