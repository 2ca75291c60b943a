// A file by its descriptor; every error is a StoreError that names the operation and the path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace tinyot::storage {

inline constexpr unsigned kStoreFileMode = 0600, kStoreDirectoryMode = 0700;

[[noreturn]] void fail_on_file(const std::string& operation, const std::filesystem::path& path,
                               int error);

class File {
 public:
  // `flags` as of open(2); a file that is made is private.
  File(const std::filesystem::path& path, int flags);
  ~File();
  // Opens a file to be written that is new: what lies under its name goes first, and a link there
  // is not followed.
  static File make_new(const std::filesystem::path& path);
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::filesystem::path& path() const { return path_; }
  int descriptor() const { return descriptor_; }
  std::uint64_t size() const;

  // How many bytes were there, up to all that fit into `bytes`.
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> bytes) const;
  // All of them. Fails: also when the disk is full.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) const;
  void sync() const;

 private:
  std::filesystem::path path_;
  int descriptor_;
};

// Fails: StoreError if the disk that `place` is on, or will be, has less than so many bytes free.
// "disk full: <what> takes ..."
void require_free_space(const std::filesystem::path& place, std::uint64_t bytes,
                        const std::string& what);

// Makes a directory, and those above it that are missing, each synced into the one above. The last
// one is private. One that is there stays as it is.
void make_private_directory(const std::filesystem::path& directory);

// Syncs a directory, so that a file made or renamed in it stays.
void sync_directory(const std::filesystem::path& directory);

}  // namespace tinyot::storage
