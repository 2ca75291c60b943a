// A file, owned by its descriptor. Every error is a StoreError that names the operation and the
// path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "system/descriptor.h"

namespace tinyot::system {

inline constexpr unsigned kPrivateFileMode = 0600, kPrivateDirectoryMode = 0700;

[[noreturn]] void fail_on_file(const std::string& operation, const std::filesystem::path& path,
                               int error);

class File {
 public:
  // `flags` as for open(2); a new file has kPrivateFileMode.
  File(const std::filesystem::path& path, int flags);
  // Makes a new file and opens it for writing. An existing file of that name is removed first; a
  // symbolic link is not followed.
  static File make_new(const std::filesystem::path& path);
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::filesystem::path& path() const { return path_; }
  int descriptor() const { return descriptor_.get(); }
  std::uint64_t size() const;

  // Returns the number of bytes read: less than bytes.size() only at the end of the file.
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> bytes) const;
  // Writes all bytes.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) const;
  void sync() const;

 private:
  std::filesystem::path path_;
  Descriptor descriptor_;
};

// Fails: DiskFull ("disk full: <what> takes ...") if less than `bytes` are free on the file
// system of `place`, which need not exist yet.
void require_free_space(const std::filesystem::path& place, std::uint64_t bytes,
                        const std::string& what);

// Replaces a file as a whole, durable on return: a reader finds the old content or the new one.
void replace_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

// Makes a directory (kPrivateDirectoryMode) and its missing parents, each synced into its parent.
// An existing directory is not changed.
void make_private_directory(const std::filesystem::path& directory);

// Syncs a directory, so that files made or renamed in it are durable.
void sync_directory(const std::filesystem::path& directory);

}  // namespace tinyot::system
