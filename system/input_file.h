// Files that a user names, to be read. Every failure is a UsageError that names the file and the
// reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "base/secret_text.h"
#include "system/descriptor.h"

namespace tinyot::system {

class InputFile {
 public:
  enum class Kind {
    Any,      // a pipe too, which may let the reader wait
    Regular,  // anything else is refused
    Private,  // a regular file that other users cannot read
  };

  explicit InputFile(const std::filesystem::path& path, Kind kind = Kind::Any);
  static InputFile standard_input();

  const std::string& name() const { return name_; }
  std::uint64_t size() const;
  // Whether it is a regular file that other users can read.
  bool is_open_to_others() const;

  // The next bytes; returns how many, 0 at the end.
  std::size_t read(std::span<char> bytes);
  // Returns fewer bytes than requested only at the end.
  std::size_t read_at(std::uint64_t offset, std::span<char> bytes) const;

 private:
  InputFile(std::string name, Descriptor file) : name_(std::move(name)), file_(std::move(file)) {}
  [[noreturn]] void fail(const std::string& reason) const;

  std::string name_;
  Descriptor file_;
};

// What some editors write at the beginning of a text.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// The whole file, without a buffer that would retain its content; of at most `bytes_max` bytes.
SecretText read_secret(InputFile file, std::uint64_t bytes_max = ~std::uint64_t{0});
std::string read_text(InputFile file, std::uint64_t bytes_max);

}  // namespace tinyot::system
