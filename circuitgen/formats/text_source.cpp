#include "circuitgen/formats/text_source.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "system/input_file.h"

namespace tinyot::circuit {
namespace {

class FileText final : public TextSource {
 public:
  explicit FileText(system::InputFile file)
      : TextSource(file.name(), file.size()), file_(std::move(file)) {}

  std::uint64_t bytes_now() const override { return file_.size(); }

  void read(std::uint64_t offset, std::span<char> block) const override {
    if (file_.read_at(offset, block) < block.size())
      throw UsageError(name() + ": the file has become shorter while it was read");
  }

 private:
  system::InputFile file_;
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
  return std::make_shared<FileText>(system::InputFile(file, system::InputFile::Kind::Regular));
}

std::shared_ptr<const TextSource> text_in_memory(std::string name, std::string text) {
  return std::make_shared<MemoryText>(std::move(name), std::move(text));
}

}  // namespace tinyot::circuit
