#include "storage/store_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "base/error.h"

namespace tinyot::storage {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kGroupAndOthers = 0077;

// Bytes of the lock file: shared by all handles, held by the maker.
constexpr std::int64_t kSharedByte = 0, kMakerByte = 1;
constexpr std::int64_t kMakerPidAt = 64;
constexpr int kWaitSeconds = 10;  // while another handle has the store alone to recover it

void check_private(const fs::path& path, mode_t wanted) {
  struct stat found;
  if (::stat(path.c_str(), &found) != 0) {
    if (errno == ENOENT) return;
    system::fail_on_file("read the attributes of", path, errno);
  }
  if ((found.st_mode & kGroupAndOthers) == 0) return;
  char modes[2][8];
  std::snprintf(modes[0], sizeof modes[0], "%04o", static_cast<unsigned>(found.st_mode & 07777));
  std::snprintf(modes[1], sizeof modes[1], "%o", static_cast<unsigned>(wanted));
  throw StoreError(path.string() + " is open to other users (mode " + modes[0] +
                   "), and a store holds secrets; restrict it with: chmod " + modes[1] + " " +
                   path.string());
}

}  // namespace

void StoreFiles::check_vacant() const {
  std::error_code error;
  if (fs::exists(database, error))
    throw StoreError(
        directory.string() + " already holds a store; continue it, or choose another directory",
        Remedy::Resume);
  if (!fs::exists(directory, error)) return;
  if (!fs::is_directory(directory, error))
    throw StoreError(directory.string() +
                     " is not a directory; choose another place for the store");
  check_private(directory, system::kPrivateDirectoryMode);
  if (::access(directory.c_str(), W_OK | X_OK) != 0)
    system::fail_on_file("write in", directory, errno);
}

void StoreFiles::prepare_directory() const {
  system::make_private_directory(directory);
  check_vacant();
}

void StoreFiles::check_present_and_private() const {
  struct stat found;
  if (::stat(database.c_str(), &found) != 0) {
    if (errno == ENOENT || errno == ENOTDIR)
      throw StoreError("no store in " + directory.string(), Remedy::MakeMaterial);
    system::fail_on_file("read the attributes of", database, errno);
  }
  check_private(directory, system::kPrivateDirectoryMode);
  for (const fs::path& file : {database, database_lock, keys, lock})
    check_private(file, system::kPrivateFileMode);
  for (const fs::path& path : {directory, database, keys})
    if (::access(path.c_str(), W_OK) != 0 && errno != ENOENT)
      system::fail_on_file("write to", path, errno);
  if (!S_ISREG(found.st_mode) || found.st_size == 0)
    throw StoreError(database.string() + " is not a TinyOT store");
}

std::uint64_t identity_of(const fs::path& path) {
  struct statx found {};
  if (::statx(AT_FDCWD, path.c_str(), 0, STATX_INO | STATX_BTIME, &found) != 0)
    system::fail_on_file("read the attributes of", path, errno);
  const bool has_birth = (found.stx_mask & STATX_BTIME) != 0;
  const std::uint64_t birth =
      has_birth ? static_cast<std::uint64_t>(found.stx_btime.tv_sec) * 1'000'000'000 +
                      found.stx_btime.tv_nsec
                : 0;
  return found.stx_ino ^ (birth * 0x9e3779b97f4a7c15);
}

bool StoreLock::set(short type, std::int64_t at) const {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = at;
  range.l_len = 1;
  if (::fcntl(file_.descriptor(), F_OFD_SETLK, &range) == 0) return true;
  if (errno != EAGAIN && errno != EACCES) system::fail_on_file("lock", file_.path(), errno);
  return false;
}

bool StoreLock::set_within(short type, std::int64_t at, int seconds) const {
  for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);;) {
    if (set(type, at)) return true;
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

StoreLock::StoreLock(const StoreFiles& files, Purpose purpose)
    : file_(files.lock, O_RDWR | O_CREAT | O_NOFOLLOW) {
  const std::string store = "the store in " + files.directory.string();
  if (purpose == Purpose::Make || purpose == Purpose::Own) {
    if (!set(F_WRLCK, kMakerByte)) {
      std::array<char, 24> name{};
      const std::size_t length =
          file_.read_at(kMakerPidAt, std::as_writable_bytes(std::span(name)));
      throw StoreError(store + " is in use by process " +
                       (length > 0 ? std::string(name.data(), ::strnlen(name.data(), length))
                                   : std::string("unknown")) +
                       ", which adds to it; wait until it ends");
    }
    std::array<char, 24> name{};
    std::snprintf(name.data(), name.size(), "%d", static_cast<int>(::getpid()));
    file_.write_at(kMakerPidAt, std::as_bytes(std::span(name)));
  }
  // The first of several handles gets the exclusive lock, and shares it after recovery.
  is_alone_ = set(F_WRLCK, kSharedByte);
  const bool is_held =
      is_alone_ || (purpose != Purpose::Own && set_within(F_RDLCK, kSharedByte, kWaitSeconds));
  if (!is_held)
    throw StoreError(store + " is in use by other processes or threads; wait until they end");
}

void StoreLock::share() {
  (void)set(F_RDLCK, kSharedByte);
  is_alone_ = false;
}

}  // namespace tinyot::storage
