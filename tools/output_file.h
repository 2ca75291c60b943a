// A file for an output: opened, and made private, before the run costs anything; written when there
// is something to write.
#pragma once

#include <string>
#include <utility>

namespace tinyot::tools {

class OutputFile {
 public:
  // Fails: Error if it cannot be opened.
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(OutputFile&& other) noexcept
      : path_(other.path_), descriptor_(std::exchange(other.descriptor_, -1)) {}
  OutputFile& operator=(OutputFile&&) = delete;

  // Replaces what the file held. Fails: as the constructor.
  void write(const std::string& text);

 private:
  [[noreturn]] void fail() const;

  std::string path_;
  int descriptor_;
};

}  // namespace tinyot::tools
