#include "system/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "system/errno_text.h"

namespace tinyot::system {
namespace {

constexpr mode_t kPrivate = 0600;

[[noreturn]] void fail_to_write(const std::filesystem::path& path) {
  throw Error(ErrorClass::Other, "cannot write " + path.string() + ": " + errno_text());
}

}  // namespace

OutputFile::OutputFile(const std::filesystem::path& path)
    : path_(path), file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kPrivate)) {
  if (!file_.is_open() || ::fchmod(file_.get(), kPrivate) != 0) fail();
}

void OutputFile::write(const std::string& text) {
  if (::ftruncate(file_.get(), 0) != 0 || !write_all(file_.get(), text)) fail();
}

void OutputFile::fail() const { fail_to_write(path_); }

NewFile::NewFile(const std::filesystem::path& path)
    : path_(path), part_(path.string() + ".part-" + std::to_string(::getpid())) {
  if (std::error_code error;
      std::filesystem::exists(path_, error) && !std::filesystem::is_regular_file(path_, error))
    throw UsageError(path_.string() + " exists and is not a regular file");
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

void NewFile::fail() const { fail_to_write(path_); }

}  // namespace tinyot::system
