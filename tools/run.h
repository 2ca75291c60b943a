// `tinyot run`: evaluates a circuit with the peer, on stored material or, with --live, on material
// made during the run.
#pragma once

#include <filesystem>

#include "engine/run.h"
#include "tools/circuit_spec.h"
#include "tools/outputs.h"
#include "tools/preprocess.h"

namespace tinyot::tools {

struct RunJob : engine::RunRequest {
  bool reserve_only = false;  // for a later run
  bool quiet = true;
  CircuitSpec circuit;
  InputTexts inputs;    // of this party's bundles
  OutputPaths outputs;  // the others go into the report
};

void add_run_options(Options& options);
// Everything but party, endpoint and store. `inputs` are those given, of either party.
RunJob run_job_from(const CommandLine& line);

// The store, or none with --live.
void set_store(RunJob& job, const CommandLine& line);

JobResult run(const RunJob& job);
std::string run_text(const Json& report);

int run_command(const Arguments& arguments);

}  // namespace tinyot::tools
