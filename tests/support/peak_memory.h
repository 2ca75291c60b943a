// Of the most memory that this process has had in use: system::peak_resident_bytes().
#pragma once

#include <cstdint>
#include <fstream>

namespace tinyot::test {

// Sanitizers take memory of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr std::uint64_t kSanitizersMemory = std::uint64_t{1} << 30;
#else
inline constexpr std::uint64_t kSanitizersMemory = 0;
#endif

// It counts from now on. Returns false if the system does not allow it.
inline bool reset_peak_memory() {
  std::ofstream file("/proc/self/clear_refs");
  return static_cast<bool>(file << "5" << std::flush);
}

}  // namespace tinyot::test
