// The results of measurements: a file of JSON objects, one line each. The rows of a measurement are
// appended together, and synced, so that an interrupted report loses at most the measurement that
// was in progress.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "system/descriptor.h"
#include "tools/cli/render/report.h"

namespace tinyot::tools {

class ResultsFile {
 public:
  // Creates the file, or opens it and keeps the rows of whole measurements. Fails: CommandError if
  // it cannot be read or written; UsageError if it is damaged, or has rows of another version or
  // machine.
  explicit ResultsFile(std::filesystem::path path);

  // Whether it has the rows of this command.
  bool has(const std::string& command) const { return commands_.contains(command); }
  // Fails: CommandError; the file is then as before.
  void append(const std::string& command, std::vector<Json> rows);

 private:
  void read();

  std::filesystem::path path_;
  system::Descriptor file_;
  std::set<std::string> commands_;
};

}  // namespace tinyot::tools
