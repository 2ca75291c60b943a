// Files that are written for a user. Every failure is an Error that names the file and the reason.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "system/descriptor.h"

namespace tinyot::system {

// A file for an output: opened and made private before the run starts, and written when the output
// is known.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& path);

  // Replaces the content of the file.
  void write(const std::string& text);

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path path_;
  Descriptor file_;
};

// A file that is written under a temporary name and renamed when it is complete; it replaces an
// existing file.
class NewFile {
 public:
  // Fails, also: UsageError if there is something else than a file.
  explicit NewFile(const std::filesystem::path& path);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();

  std::ostream& stream() { return stream_; }
  // Makes the content durable and gives it its name.
  void finish();

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path path_, part_;
  std::ofstream stream_;
};

}  // namespace tinyot::system
