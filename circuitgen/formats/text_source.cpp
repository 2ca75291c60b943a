#include "circuitgen/formats/text_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/descriptor.h"
#include "base/error.h"

namespace tinyot::circuit {
namespace {

class FileText final : public TextSource {
 public:
  FileText(Descriptor file, std::string name, std::uint64_t bytes)
      : TextSource(std::move(name), bytes), file_(std::move(file)) {}

  std::uint64_t bytes_now() const override {
    struct stat status {};
    if (::fstat(file_.get(), &status) != 0) throw UsageError(name() + ": " + std::strerror(errno));
    return static_cast<std::uint64_t>(status.st_size);
  }

  void read(std::uint64_t offset, std::span<char> block) const override {
    while (!block.empty()) {
      const ssize_t count =
          ::pread(file_.get(), block.data(), block.size(), static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0)
        throw UsageError(name() + ": the file cannot be read further: " + std::strerror(errno));
      if (count == 0) throw UsageError(name() + ": the file has become shorter while it was read");
      offset += static_cast<std::uint64_t>(count);
      block = block.subspan(static_cast<std::size_t>(count));
    }
  }

 private:
  Descriptor file_;
};

class MemoryText final : public TextSource {
 public:
  MemoryText(std::string name, std::string text)
      : TextSource(std::move(name), text.size()), text_(std::move(text)) {}

  void read(std::uint64_t offset, std::span<char> block) const override {
    ENSURE(offset <= text_.size() && block.size() <= text_.size() - offset);
    std::copy_n(text_.data() + offset, block.size(), block.data());
  }

 private:
  std::string text_;
};

}  // namespace

std::shared_ptr<const TextSource> open_text_file(const std::filesystem::path& file) {
  Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!opened.is_open()) {
    throw UsageError(file.string() + ": the file cannot be opened: " + std::strerror(errno));
  }
  struct stat status {};
  if (::fstat(opened.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    throw UsageError(file.string() + ": this is not a regular file");
  }
  return std::make_shared<FileText>(std::move(opened), file.string(),
                                    static_cast<std::uint64_t>(status.st_size));
}

std::shared_ptr<const TextSource> text_in_memory(std::string name, std::string text) {
  return std::make_shared<MemoryText>(std::move(name), std::move(text));
}

}  // namespace tinyot::circuit
