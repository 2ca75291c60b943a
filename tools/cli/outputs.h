// The inputs and outputs of a run on the command line, and what becomes of the outputs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "system/output_file.h"
#include "tools/cli/command_line.h"

namespace tinyot::tools {

void add_input_option(Options& options);    // --input
void add_output_options(Options& options);  // --output, --output-base

// An output as it is printed: one value, or one for each lane.
struct PrintedOutput {
  std::string name;
  std::vector<std::string> values;
  bool is_list = false;
  bool is_raw = false;  // the bytes of a file

  std::string lines() const;  // a value each, without the last line feed
};
using PrintedOutputs = std::vector<PrintedOutput>;

// The file of an output by its name.
using OutputPaths = std::map<std::string, std::string>;
// Of --output NAME=@FILE. Fails: UsageError.
OutputPaths output_paths_from(const CommandLine& line);

// Outputs that have a file go there, the others into a report.
class OutputFiles {
 public:
  // Opens all files. Fails: CommandError.
  explicit OutputFiles(const OutputPaths& paths);

  // Fails: CommandError.
  void write(PrintedOutput output, PrintedOutputs& reported);

 private:
  std::map<std::string, system::OutputFile> files_;
};

}  // namespace tinyot::tools
