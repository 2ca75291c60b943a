// A disk of a few megabytes, mounted on a directory.
#pragma once

#include <sys/mount.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

namespace tinyot::test {

class SmallDisk {
 public:
  // Makes the directory.
  SmallDisk(std::filesystem::path directory, std::uint64_t bytes)
      : directory_(std::move(directory)) {
    std::filesystem::create_directories(directory_);
    is_mounted_ = mount(0, bytes);
  }
  ~SmallDisk() {
    if (is_mounted_) ::umount2(directory_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  // False if this process may not mount.
  bool is_mounted() const { return is_mounted_; }
  bool resize(std::uint64_t bytes) const { return mount(MS_REMOUNT, bytes); }
  std::uint64_t used_bytes() const {
    const auto space = std::filesystem::space(directory_);
    return space.capacity - space.available;
  }

 private:
  bool mount(unsigned long flags, std::uint64_t bytes) const {
    const std::string options = "mode=700,size=" + std::to_string(bytes);
    return ::mount("tmpfs", directory_.c_str(), "tmpfs", flags, options.c_str()) == 0;
  }

  std::filesystem::path directory_;
  bool is_mounted_ = false;
};

}  // namespace tinyot::test
