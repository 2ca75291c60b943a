// A file that is written under a temporary name and renamed when it is complete; it replaces an
// existing file.
#pragma once

#include <fstream>
#include <string>

namespace tinyot::tools {

class NewFile {
 public:
  // Fails: UsageError if there is something else than a file; CommandError if it cannot be written.
  explicit NewFile(const std::string& path);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();

  std::ostream& stream() { return stream_; }
  // Makes the content durable and gives it its name. Fails: CommandError.
  void finish();

 private:
  [[noreturn]] void fail() const;

  std::string path_, part_;
  std::ofstream stream_;
};

}  // namespace tinyot::tools
