// Both parties on this machine, as two processes over loopback: for trials and measurements.
#pragma once

#include <functional>

#include "tools/cli/local_link.h"
#include "tools/cli/preprocess.h"

namespace tinyot::tools {

// A party's job, given the party and its endpoint.
using PartyJob = std::function<CommandResult(Party, const Endpoint&)>;

// Runs the job as A and as B, each in a child process, and joins their reports: {"A": ..., "B":
// ..., "wall_s": ...}. The exit status is 0 if both are 0, otherwise that of the party whose ending
// explains the other's; if that party failed, its failure is the report. Errors are printed to
// stderr by the children, each line with its party's letter. Call it before the process has
// threads.
CommandResult run_pair(const PartyJob& job, const LocalLink& link);

}  // namespace tinyot::tools
