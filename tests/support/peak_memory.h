// The most memory that this process has had in use.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace tinyot::test {

// Sanitizers take memory of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr std::uint64_t kSanitizersMemory = std::uint64_t{1} << 30;
#else
inline constexpr std::uint64_t kSanitizersMemory = 0;
#endif

// Since it was last reset, in bytes.
inline std::uint64_t peak_memory() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) << 10;
  return 0;
}
// Returns false if the system does not allow it.
inline bool reset_peak_memory() {
  std::ofstream file("/proc/self/clear_refs");
  return static_cast<bool>(file << "5" << std::flush);
}

}  // namespace tinyot::test
