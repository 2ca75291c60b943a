#include "system/memory_use.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <mutex>
#include <string>

namespace tinyot::system {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kInterval = std::chrono::milliseconds(50);

struct Noted {
  std::mutex mutex;
  Clock::time_point at;
  MemoryUse largest;

  void note() {
    const MemoryUse now = memory_use();
    largest.anonymous = std::max(largest.anonymous, now.anonymous);
    largest.file = std::max(largest.file, now.file);
    at = Clock::now();
  }
};
Noted noted;

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

std::uint64_t peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  std::uint64_t kib = 0;
  for (std::string field; status >> field;)
    if (field == "VmHWM:" && status >> kib) break;
  return kib * 1024;
}

void note_memory_use() {
  const std::lock_guard lock(noted.mutex);
  if (Clock::now() - noted.at >= kInterval) noted.note();
}

MemoryUse peak_memory_use() {
  const std::lock_guard lock(noted.mutex);
  noted.note();
  return noted.largest;
}

std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

}  // namespace tinyot::system
