#include "tools/cli/outputs.h"

#include "base/error.h"
#include "tools/cli/circuit_spec.h"

namespace tinyot::tools {

std::string PrintedOutput::lines() const {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) text += (i == 0 ? "" : "\n") + values[i];
  return text;
}

void add_input_option(Options& options) {
  options
      .values("input",
              "NAME=HEX for trials; for real secrets NAME=@FILE or NAME=- (stdin), since "
              "command lines can be seen by others")
      .secret();
}

void add_output_options(Options& options) {
  options.values("output",
                 "NAME=@FILE: write this output there (mode 0600) instead of to the report");
  add_output_base_option(options);
}

OutputPaths output_paths_from(const CommandLine& line) {
  OutputPaths paths;
  for (const std::string& assignment : line.list("output")) {
    const auto [name, value] = split_assignment("output", assignment);
    if (!value.starts_with("@") || value.size() == 1) throw UsageError("--output takes NAME=@FILE");
    paths[name] = value.substr(1);
  }
  return paths;
}

OutputFiles::OutputFiles(const OutputPaths& paths) {
  for (const auto& [name, path] : paths) files_.emplace(name, system::OutputFile(path));
}

void OutputFiles::write(PrintedOutput output, PrintedOutputs& reported) {
  if (const auto file = files_.find(output.name); file != files_.end())
    file->second.write(output.is_raw ? output.values[0] : output.lines() + "\n");
  else
    reported.push_back(std::move(output));
}

}  // namespace tinyot::tools
