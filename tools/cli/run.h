// `tinyot run`: evaluates a circuit with the peer, on stored material or, with --live, on material
// made during the run.
#pragma once

#include <filesystem>

#include "tinyot/run.h"
#include "tools/cli/circuit_spec.h"
#include "tools/cli/outputs.h"
#include "tools/cli/preprocess.h"

namespace tinyot::tools {

// A table whose rows are evaluated one beside the other (rows/run_rows.h).
struct RowsJob {
  std::filesystem::path file;
  std::optional<std::uint64_t> count;  // of rows, of a party without inputs of its own
  std::optional<std::filesystem::path> out;
  std::map<std::string, std::string> types;  // by column
  std::uint64_t at_once = 0;
};

struct RunJob : RunRequest {
  bool reserve_only = false;  // for a later run
  bool quiet = true;
  CircuitSpec circuit;
  InputTexts inputs;    // of this party's bundles
  OutputPaths outputs;  // the others go into the report
  std::optional<RowsJob> rows;
};

void add_run_options(Options& options);
// Everything but party, endpoint and store. `inputs` are those given, of either party.
RunJob run_job_from(const CommandLine& line);

// The store, or none with --live.
void set_store(RunJob& job, const CommandLine& line);

CommandResult run(const RunJob& job);
Json run_report(const RunJob& job, const NamedCircuit& circuit, const RunResult& evaluation);
std::string run_text(const Json& report);

int run_command(const Arguments& arguments);

}  // namespace tinyot::tools
