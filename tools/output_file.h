// A file for an output: opened, and made private, before the run costs anything; written when there
// is something to write.
#pragma once

#include <string>

#include "base/descriptor.h"

namespace tinyot::tools {

class OutputFile {
 public:
  // Fails: Error if it cannot be opened.
  explicit OutputFile(const std::string& path);

  // Replaces what the file held. Fails: as the constructor.
  void write(const std::string& text);

 private:
  [[noreturn]] void fail() const;

  std::string path_;
  Descriptor file_;
};

}  // namespace tinyot::tools
