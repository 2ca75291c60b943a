#include "system/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/error.h"
#include "system/errno_text.h"

namespace tinyot::system {
namespace {

constexpr std::size_t kPart = std::size_t{1} << 16;

}  // namespace

// A pipe would let open() wait for its writer.
InputFile::InputFile(const std::filesystem::path& path, Kind kind)
    : InputFile(path.string(),
                Descriptor(::open(path.c_str(),
                                  O_RDONLY | O_CLOEXEC | (kind == Kind::Any ? 0 : O_NONBLOCK)))) {
  struct stat found {};
  if (!file_.is_open() || ::fstat(file_.get(), &found) != 0) fail(errno_text());
  if (kind != Kind::Any && !S_ISREG(found.st_mode)) fail("it is not a regular file");
  if (kind == Kind::Private && (found.st_mode & 077) != 0)
    throw UsageError(name_ +
                     " is readable by other users, and a file with a private key must not be; "
                     "restrict it with: chmod 600 " +
                     name_);
}

InputFile InputFile::standard_input() {
  InputFile file("standard input", Descriptor(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)));
  if (!file.file_.is_open()) file.fail(errno_text());
  return file;
}

void InputFile::fail(const std::string& reason) const {
  throw UsageError("cannot read " + name_ + ": " + reason);
}

std::uint64_t InputFile::size() const {
  struct stat found {};
  if (::fstat(file_.get(), &found) != 0) fail(errno_text());
  return static_cast<std::uint64_t>(found.st_size);
}

bool InputFile::is_open_to_others() const {
  struct stat found {};
  if (::fstat(file_.get(), &found) != 0) fail(errno_text());
  // One without a name is open to nobody who does not have it already.
  return S_ISREG(found.st_mode) && found.st_nlink > 0 && (found.st_mode & 077) != 0;
}

std::size_t InputFile::read(std::span<char> bytes) {
  for (;;) {
    const ssize_t count = ::read(file_.get(), bytes.data(), bytes.size());
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) fail(errno_text());
  }
}

std::size_t InputFile::read_at(std::uint64_t offset, std::span<char> bytes) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::pread(file_.get(), bytes.data() + done, bytes.size() - done,
                                  static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(errno_text());
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

SecretText read_secret(InputFile file, std::uint64_t bytes_max) {
  SecretText text;
  for (std::size_t size = 0;;) {
    if (text.size() < size + kPart) text.resize(2 * size + kPart);
    const std::size_t count = file.read(std::span(text).subspan(size, kPart));
    size += count;
    if (size > bytes_max)
      throw UsageError(file.name() + " has more than " + std::to_string(bytes_max) + " bytes");
    if (count > 0) continue;
    text.resize(size);
    return text;
  }
}

std::string read_text(InputFile file, std::uint64_t bytes_max) {
  const SecretText text = read_secret(std::move(file), bytes_max);
  return {text.begin(), text.end()};
}

}  // namespace tinyot::system
