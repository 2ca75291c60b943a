#include "system/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/error.h"
#include "system/errno_text.h"

namespace tinyot::system {

void fail_on_file(const std::string& operation, const std::filesystem::path& path, int error) {
  const std::string failure =
      "cannot " + operation + " " + path.string() + ": " + errno_text(error);
  if (error != ENOSPC && error != EDQUOT && error != EFBIG) throw StoreError(failure);
  throw DiskFull(
      "disk full: " + failure + "; committed material stays valid; free some space and continue",
      Remedy::Resume);
}

File::File(const std::filesystem::path& path, int flags)
    : path_(path), descriptor_(::open(path.c_str(), flags | O_CLOEXEC, kPrivateFileMode)) {
  if (!descriptor_.is_open()) fail_on_file("open", path, errno);
}

File File::make_new(const std::filesystem::path& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) fail_on_file("remove", path, errno);
  return File(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
}

std::uint64_t File::size() const {
  struct stat found;
  if (::fstat(descriptor(), &found) != 0) fail_on_file("read the attributes of", path_, errno);
  return static_cast<std::uint64_t>(found.st_size);
}

std::size_t File::read_at(std::uint64_t offset, std::span<std::byte> bytes) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t part = ::pread(descriptor(), bytes.data() + done, bytes.size() - done,
                                 static_cast<off_t>(offset + done));
    if (part < 0 && errno == EINTR) continue;
    if (part < 0) fail_on_file("read", path_, errno);
    if (part == 0) break;
    done += static_cast<std::size_t>(part);
  }
  return done;
}

void File::write_at(std::uint64_t offset, std::span<const std::byte> bytes) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t part = ::pwrite(descriptor(), bytes.data() + done, bytes.size() - done,
                                  static_cast<off_t>(offset + done));
    if (part < 0 && errno == EINTR) continue;
    if (part < 0) fail_on_file("write", path_, errno);
    if (part == 0) fail_on_file("write", path_, ENOSPC);
    done += static_cast<std::size_t>(part);
  }
}

void File::sync() const {
  if (::fdatasync(descriptor()) != 0) fail_on_file("sync", path_, errno);
}

void require_free_space(const std::filesystem::path& place, std::uint64_t bytes,
                        const std::string& what) {
  std::error_code error;
  std::filesystem::path existing = std::filesystem::absolute(place, error);
  while (!error && !std::filesystem::exists(existing, error) && existing.has_relative_path())
    existing = existing.parent_path();
  const std::filesystem::space_info space = std::filesystem::space(existing, error);
  if (error || space.available >= bytes) return;
  throw DiskFull("disk full: " + what + " takes up to " + std::to_string(bytes) + " bytes, and " +
                 std::to_string(space.available) + " are free in " + existing.string() +
                 "; nothing has been changed");
}

void replace_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::filesystem::path written = path;
  written += ".new";
  try {
    {
      const File file = File::make_new(written);
      file.write_at(0, bytes);
      file.sync();
    }
    if (::rename(written.c_str(), path.c_str()) != 0) fail_on_file("replace", path, errno);
  } catch (const StoreError&) {
    ::unlink(written.c_str());  // on a full disk, the space of what was written is needed
    throw;
  }
  sync_directory(path.has_parent_path() ? path.parent_path() : std::filesystem::path("."));
}

namespace {

void make_directory(const std::filesystem::path& directory, unsigned mode) {
  constexpr unsigned kAnyMode = 0777;
  if (::mkdir(directory.c_str(), mode) != 0) {
    if (errno == EEXIST) return;
    if (errno != ENOENT || !directory.has_parent_path())
      fail_on_file("make the directory", directory, errno);
    make_directory(directory.parent_path(), kAnyMode);
    if (::mkdir(directory.c_str(), mode) != 0 && errno != EEXIST)
      fail_on_file("make the directory", directory, errno);
  }
  sync_directory(directory.has_parent_path() ? directory.parent_path()
                                             : std::filesystem::path("."));
}

}  // namespace

void make_private_directory(const std::filesystem::path& directory) {
  make_directory(directory, kPrivateDirectoryMode);
}

void sync_directory(const std::filesystem::path& directory) {
  File(directory, O_RDONLY | O_DIRECTORY).sync();
}

}  // namespace tinyot::system
