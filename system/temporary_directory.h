// A directory that is removed with its content on destruction.
#pragma once

#include <filesystem>

namespace tinyot::system {

class TemporaryDirectory {
 public:
  // Fails: StoreError if it cannot be made.
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace tinyot::system
