// Room on the disk of the daemon's directory, for what jobs write there: their files, and in a
// store which of its material they take. Without it none begins.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

namespace tinyot::service {

inline constexpr std::uint64_t kDiskRoomMin = std::uint64_t{1} << 20;  // bytes

// Empty if it cannot be read.
inline std::optional<std::uint64_t> free_bytes_in(const std::filesystem::path& directory) {
  std::error_code error;
  const auto space = std::filesystem::space(directory, error);
  return error ? std::optional<std::uint64_t>() : space.available;
}

// Why there is no room; empty if there is.
inline std::string full_disk(const std::filesystem::path& directory) {
  const auto free = free_bytes_in(directory);
  if (!free || *free >= kDiskRoomMin) return {};
  return "the disk is full: " + std::to_string(*free) + " bytes are free in " + directory.string();
}

}  // namespace tinyot::service
