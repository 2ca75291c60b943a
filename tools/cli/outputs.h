// The inputs and outputs of a run on the command line, and what becomes of the outputs.
#pragma once

#include <map>
#include <string>

#include "system/output_file.h"
#include "tools/cli/command_line.h"
#include "tools/cli/render/report.h"

namespace tinyot::tools {

void add_input_option(Options& options);    // --input
void add_output_options(Options& options);  // --output, --output-base

// The file of an output by its name.
using OutputPaths = std::map<std::string, std::string>;
// Of --output NAME=@FILE. Fails: UsageError.
OutputPaths output_paths_from(const CommandLine& line);

// Outputs that have a file go there, the others into a report.
class OutputFiles {
 public:
  // Opens all files. Fails: CommandError.
  explicit OutputFiles(const OutputPaths& paths);

  // `value` is as NamedCircuit::print returns it. Fails: CommandError.
  void hand_out(const std::string& name, const Json& value, Json& report);

 private:
  std::map<std::string, system::OutputFile> files_;
};

// A line for each output of a report; a list has a line for each of its values.
std::string outputs_text(const Json& outputs);

}  // namespace tinyot::tools
