#include "storage/shared_environment.h"

#include <sys/stat.h>

#include <cerrno>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "system/file.h"

namespace tinyot::storage {
namespace {

struct OpenFile {
  std::uint64_t users = 0;  // under the mutex of the list
  std::mutex mutex;         // held while the file is opened or closed
  std::optional<Environment> environment;
  std::shared_ptr<RevocationFlag> revocation = std::make_shared<RevocationFlag>();
};

struct OpenFiles {
  std::mutex mutex;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::shared_ptr<OpenFile>> files;
};

OpenFiles& open_files() {
  static OpenFiles files;
  return files;
}

}  // namespace

SharedEnvironment::SharedEnvironment(const std::filesystem::path& path) {
  struct stat found;
  if (::stat(path.c_str(), &found) != 0) system::fail_on_file("open", path, errno);
  file_ = {found.st_dev, found.st_ino};
  std::shared_ptr<OpenFile> file;
  {
    const std::lock_guard lock(open_files().mutex);
    std::shared_ptr<OpenFile>& known = open_files().files[file_];
    if (!known) known = std::make_shared<OpenFile>();
    file = known;
    ++file->users;
  }
  try {
    const std::lock_guard lock(file->mutex);
    if (!file->environment) file->environment.emplace(path, 0, Locking::ByLmdb);
    environment_ = &*file->environment;
    revocation_ = file->revocation;
  } catch (...) {
    release();
    throw;
  }
}

SharedEnvironment::~SharedEnvironment() { release(); }

// A file is opened again only after it has been closed: concurrent openers block on its
// mutex.
void SharedEnvironment::release() noexcept {
  std::shared_ptr<OpenFile> file;
  {
    const std::lock_guard lock(open_files().mutex);
    file = open_files().files.at(file_);
  }
  const std::lock_guard closing(file->mutex);
  {
    const std::lock_guard lock(open_files().mutex);
    if (--file->users > 0) return;
  }
  file->environment.reset();
  const std::lock_guard lock(open_files().mutex);
  if (file->users == 0) open_files().files.erase(file_);
}

}  // namespace tinyot::storage
