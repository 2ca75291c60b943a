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
  if (::ftruncate(file_.get(), 0) != 0 || !write_all(file_.get(), text)) fail();
}

void OutputFile::fail() const {
  throw CommandError("cannot write the output to " + path_ + ": " + std::strerror(errno));
}

}  // namespace tinyot::tools
