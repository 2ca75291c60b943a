#include "tools/new_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/descriptor.h"
#include "base/error.h"
#include "tools/failure.h"

namespace tinyot::tools {

NewFile::NewFile(const std::string& path)
    : path_(path), part_(path + ".part-" + std::to_string(::getpid())) {
  if (std::error_code error;
      std::filesystem::exists(path_, error) && !std::filesystem::is_regular_file(path_, error))
    throw UsageError(path + " exists and is not a regular file");
  stream_.open(part_, std::ios::binary | std::ios::trunc);
  if (!stream_) fail();
}

NewFile::~NewFile() {
  std::error_code error;
  std::filesystem::remove(part_, error);
}

void NewFile::finish() {
  stream_.close();
  if (!stream_) fail();
  const Descriptor written(::open(part_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!written.is_open() || ::fsync(written.get()) != 0 ||
      ::rename(part_.c_str(), path_.c_str()) != 0)
    fail();
}

void NewFile::fail() const {
  throw CommandError("cannot write " + path_ + ": " + std::strerror(errno));
}

}  // namespace tinyot::tools
