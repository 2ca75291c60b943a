#include "storage/store_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/secret.h"

namespace tinyot {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kDirectoryMode = 0700, kFileMode = 0600, kOthers = 0077;

[[noreturn]] void fail(const std::string& operation, const fs::path& path, int error) {
  throw StoreError("cannot " + operation + " " + path.string() + ": " + std::strerror(error));
}

class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags) : path_(path), value_(::open(path.c_str(), flags | O_CLOEXEC, kFileMode)) {
    if (value_ < 0) fail("open", path, errno);
  }
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return value_; }
  int release() { return std::exchange(value_, -1); }
  void sync() const {
    if (::fsync(value_) != 0) fail("sync", path_, errno);
  }

 private:
  fs::path path_;
  int value_;
};

void check_private(const fs::path& path, mode_t wanted) {
  struct stat found;
  if (::stat(path.c_str(), &found) != 0) {
    if (errno == ENOENT) return;
    fail("look at", path, errno);
  }
  if ((found.st_mode & kOthers) == 0) return;
  char modes[2][8];
  std::snprintf(modes[0], sizeof modes[0], "%04o", static_cast<unsigned>(found.st_mode & 07777));
  std::snprintf(modes[1], sizeof modes[1], "%o", static_cast<unsigned>(wanted));
  throw StoreError(path.string() + " is open to other users (mode " + modes[0] +
                   "), and a store holds secrets; close it with: chmod " + modes[1] + " " + path.string());
}

// The key file as it lies on disk.
struct StoredKey {
  char magic[8];
  std::uint32_t version;
  std::uint32_t state;
  SessionIdBytes session_id;
  Block global_key;
};
static_assert(sizeof(StoredKey) == 64 && std::is_trivially_copyable_v<StoredKey>);

constexpr char kKeyMagic[8] = {'T', 'I', 'N', 'Y', 'O', 'T', 'G', 'K'};
constexpr std::uint32_t kKeyVersion = 1, kKeyWiped = 0, kKeyPresent = 1;

void write_key_file(const StoreFiles& files, const SessionIdBytes& session_id, std::uint32_t state, Block global_key) {
  StoredKey key{};
  std::memcpy(key.magic, kKeyMagic, sizeof key.magic);
  key.version = kKeyVersion;
  key.state = state;
  key.session_id = session_id;
  key.global_key = global_key;
  const Descriptor file(files.global_key, O_WRONLY | O_CREAT);
  const ssize_t written = ::pwrite(file.get(), &key, sizeof key, 0);
  const int error = written < 0 ? errno : ENOSPC;
  wipe_object(key);
  if (written != static_cast<ssize_t>(sizeof key)) fail("write", files.global_key, error);
  file.sync();
}

}  // namespace

void StoreFiles::check_vacant() const {
  std::error_code error;
  if (fs::exists(database, error))
    throw StoreError(directory.string() + " already holds a store; add to it with --resume, or choose another directory");
  if (!fs::exists(directory, error)) return;
  if (!fs::is_directory(directory, error))
    throw StoreError(directory.string() + " is not a directory; choose another place for the store");
  check_private(directory, kDirectoryMode);
  if (::access(directory.c_str(), W_OK | X_OK) != 0) fail("write in", directory, errno);
}

void StoreFiles::prepare_directory() const {
  std::error_code error;
  if (directory.has_parent_path()) fs::create_directories(directory.parent_path(), error);
  if (::mkdir(directory.c_str(), kDirectoryMode) != 0 && errno != EEXIST) fail("make the directory", directory, errno);
  check_vacant();
}

void StoreFiles::check_present_and_private() const {
  struct stat found;
  if (::stat(database.c_str(), &found) != 0) {
    if (errno == ENOENT || errno == ENOTDIR)
      throw StoreError("no store in " + directory.string() + "; make one with tinyot preprocess");
    fail("look at", database, errno);
  }
  check_private(directory, kDirectoryMode);
  for (const fs::path& file : {database, database_lock, global_key, lock}) check_private(file, kFileMode);
  if (!S_ISREG(found.st_mode) || found.st_size == 0) throw StoreError(database.string() + " is not a TinyOT store");
}

void sync_directory(const fs::path& directory) { Descriptor(directory, O_RDONLY | O_DIRECTORY).sync(); }

StoreLock::StoreLock(const StoreFiles& files) {
  Descriptor file(files.lock, O_RDWR | O_CREAT);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) fail("lock", files.lock, errno);
    char holder[24] = {};
    const ssize_t length = ::pread(file.get(), holder, sizeof holder - 1, 0);
    throw StoreError("the store in " + files.directory.string() + " is in use by process " +
                     (length > 0 ? std::string(holder) : std::string("unknown")) + "; wait until it ends");
  }
  const std::string holder = std::to_string(::getpid());
  if (::ftruncate(file.get(), 0) != 0 || ::pwrite(file.get(), holder.data(), holder.size(), 0) < 0)
    fail("write", files.lock, errno);
  descriptor_ = file.release();
}

StoreLock::~StoreLock() { ::close(descriptor_); }

void write_global_key(const StoreFiles& files, const SessionIdBytes& session_id, Delta global_key) {
  write_key_file(files, session_id, kKeyPresent, global_key.value);
}

Delta read_global_key(const StoreFiles& files, const SessionIdBytes& session_id) {
  const std::string path = files.global_key.string();
  std::error_code error;
  if (!fs::exists(files.global_key, error))
    throw StoreError(path + " is missing: this is not a whole store, start a new session in a new store");
  const Descriptor file(files.global_key, O_RDONLY);
  StoredKey key;
  const ssize_t length = ::pread(file.get(), &key, sizeof key, 0);
  if (length < 0) fail("read", files.global_key, errno);
  if (length != static_cast<ssize_t>(sizeof key) || std::memcmp(key.magic, kKeyMagic, sizeof key.magic) != 0)
    throw StoreError(path + " is corrupt; start a new session in a new store");
  const Delta result{key.global_key};
  wipe_object(key.global_key);
  if (key.version > kKeyVersion)
    throw StoreError(path + " was made by a newer version (format " + std::to_string(key.version) +
                     ", this program reads up to " + std::to_string(kKeyVersion) + "); use the version that made it");
  if (key.session_id != session_id) throw StoreError(path + " belongs to another session; start a new session in a new store");
  if (key.version != kKeyVersion || key.state != kKeyPresent)
    throw StoreError(path + " holds no key any more; start a new session in a new store");
  return result;
}

void wipe_global_key(const StoreFiles& files, const SessionIdBytes& session_id) {
  write_key_file(files, session_id, kKeyWiped, Block{});
}

}  // namespace tinyot
