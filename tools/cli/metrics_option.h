// --metrics-file: what a command did, for monitoring.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "tinyot/store_key.h"
#include "tools/cli/command_line.h"
#include "tools/cli/preprocess.h"

namespace tinyot::tools {

void add_metrics_option(Options& options);

// Of which the metrics report: the command, and the stores that it uses.
struct Measured {
  std::string command;
  std::vector<std::filesystem::path> stores;
  std::optional<StoreKey> store_key = {};
};

// Does the work of a command and, if --metrics-file is given, writes its metrics, also if it fails.
// Fails: as `work`; UsageError before that if the file cannot be written.
CommandResult with_metrics(const CommandLine& line, const Measured& measured,
                           const std::function<CommandResult()>& work);

}  // namespace tinyot::tools
