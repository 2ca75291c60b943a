#include "tools/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "tools/failure.h"

namespace tinyot::tools {

OutputFile::OutputFile(const std::string& path)
    : path_(path), file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) {
  if (!file_.is_open() || ::fchmod(file_.get(), 0600) != 0) fail();
}

void OutputFile::write(const std::string& text) {
  if (::ftruncate(file_.get(), 0) != 0) fail();
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t count = ::write(file_.get(), text.data() + at, text.size() - at);
    if (count < 0 && errno != EINTR) fail();
    if (count > 0) at += static_cast<std::size_t>(count);
  }
}

void OutputFile::fail() const {
  throw CommandError("cannot write the output to " + path_ + ": " + std::strerror(errno));
}

}  // namespace tinyot::tools
