// The text of a circuit file, read in blocks at any offset: a file, or memory.
//
// A file is read, never mapped, so that truncating it in the meantime causes an error message, not
// a crash.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace tinyot::circuit {

class TextSource {
 public:
  TextSource(std::string name, std::uint64_t bytes) : name_(std::move(name)), bytes_(bytes) {}
  TextSource(const TextSource&) = delete;
  TextSource& operator=(const TextSource&) = delete;
  virtual ~TextSource() = default;

  // Its name in messages.
  const std::string& name() const { return name_; }

  // Its length when it was opened.
  std::uint64_t bytes() const { return bytes_; }

  // Its current length.
  virtual std::uint64_t bytes_now() const { return bytes_; }

  // Fills `block` with the text from `offset` on. Fails: UsageError if it cannot be read or has
  // become shorter.
  virtual void read(std::uint64_t offset, std::span<char> block) const = 0;

 private:
  std::string name_;
  std::uint64_t bytes_;
};

// Fails: UsageError if the file does not exist, is not a regular file or cannot be opened.
std::shared_ptr<const TextSource> open_text_file(const std::filesystem::path& file);

std::shared_ptr<const TextSource> text_in_memory(std::string name, std::string text);

}  // namespace tinyot::circuit
