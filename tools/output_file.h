// A file for an output: opened and made private before the run starts, and written when the output
// is known.
#pragma once

#include <string>

#include "base/descriptor.h"

namespace tinyot::tools {

class OutputFile {
 public:
  // Fails: Error if it cannot be opened.
  explicit OutputFile(const std::string& path);

  // Replaces the content of the file. Fails: as the constructor.
  void write(const std::string& text);

 private:
  [[noreturn]] void fail() const;

  std::string path_;
  Descriptor file_;
};

}  // namespace tinyot::tools
