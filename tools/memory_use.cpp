#include "tools/memory_use.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <mutex>
#include <string>

namespace tinyot::tools {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kInterval = std::chrono::milliseconds(50);

std::mutex mutex;
Clock::time_point noted_at;
MemoryUse peak;

void note() {
  const MemoryUse now = memory_use();
  peak.anonymous = std::max(peak.anonymous, now.anonymous);
  peak.file = std::max(peak.file, now.file);
  noted_at = Clock::now();
}

}  // namespace

MemoryUse memory_use() {
  MemoryUse use;
  std::ifstream status("/proc/self/status");
  for (std::string field; status >> field;) {
    std::uint64_t kib = 0;
    if (field == "RssAnon:" && status >> kib) use.anonymous = kib * 1024;
    if ((field == "RssFile:" || field == "RssShmem:") && status >> kib) use.file += kib * 1024;
  }
  return use;
}

void note_memory_use() {
  const std::lock_guard lock(mutex);
  if (Clock::now() - noted_at >= kInterval) note();
}

MemoryUse peak_memory_use() {
  const std::lock_guard lock(mutex);
  note();
  return peak;
}

}  // namespace tinyot::tools
