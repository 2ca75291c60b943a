#include "tools/cli/log.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdlib>

#include "system/clock.h"

namespace tinyot::tools {
namespace {

std::atomic<bool> is_quiet = false;

std::string upper_case(std::string_view text) {
  std::string upper(text);
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
  return upper;
}

}  // namespace

void set_quiet(bool quiet) { is_quiet = quiet; }

void log_line(LogLevel level, const std::string& text) {
  if (is_quiet && level == LogLevel::Info) return;
  const char* const party = std::getenv(kPartyVariable);
  const std::string sender = party == nullptr ? "tinyot" : party;
  if (::isatty(STDERR_FILENO) == 1)
    return system::write_log_line(sender + (level == LogLevel::Warning ? ": warning: " : ": ") +
                                  text);
  system::write_log_line(system::utc_text() + " " + upper_case(name_of(level)) + " " + sender +
                         ": " + text);
}

}  // namespace tinyot::tools
