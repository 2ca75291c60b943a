// --metrics-file: what a command did, for monitoring.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "tinyot/phase_cost.h"
#include "tinyot/store_key.h"
#include "tools/cli/command_line.h"

namespace tinyot::tools {

void add_metrics_option(Options& options);

// Of which the metrics report: the command, and the stores that it uses.
struct Measured {
  std::string command;
  std::vector<std::filesystem::path> stores;
  std::optional<StoreKey> store_key = {};
};

// What its work came to.
struct WorkDone {
  int exit_status = 0;     // 0, or 130 / 143 if a signal ended a job after a unit
  std::uint64_t ands = 0;  // made or evaluated
  std::vector<PhaseCost> phases = {};
};

// Does the work of a command and, if --metrics-file is given, writes its metrics, also if it fails.
// Returns the exit status. Fails: as `work`; UsageError before that if the file cannot be written.
int with_metrics(const CommandLine& line, const Measured& measured,
                 const std::function<WorkDone()>& work);

}  // namespace tinyot::tools
