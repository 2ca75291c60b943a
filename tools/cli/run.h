// The options of `tinyot run`, and runs of a circuit on the rows of a table.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "tinyot/run.h"
#include "tools/cli/circuit_spec.h"
#include "tools/cli/later_inputs.h"
#include "tools/cli/metrics_option.h"
#include "tools/cli/outputs.h"
#include "tools/cli/rows_table.h"

namespace tinyot::tools {

// What a command line says beside the request.
struct RunSpec {
  CircuitSpec circuit;
  InputTexts inputs;  // those given, of either party; none yet if they come later
  std::optional<LaterInputs> later = {};
  OutputPaths outputs;  // the others go into the report
  std::optional<RowsSpec> rows = {};
  bool reserve_only = false;  // for a later run
  CommonOptions common = {};
};

void add_run_options(Options& options);
// Reads the inputs, unless they come later.
RunSpec run_spec_from(const CommandLine& line, std::optional<LaterInputs> later = {});
// Everything but party and endpoint; the stores, or none with --live.
RunRequest run_request_from(const CommandLine& line);

// A circuit on the rows of a table, a lane a row, as many at a time as memory is to hold. The
// outputs are the rows of another table, in the same order. Prints the report.
//
// All rows are read before the first byte is sent. The parties compare their numbers of rows with
// the first of them. Fails: UsageError naming the line of a row that cannot be read; then as
// Evaluator. Rows in the file of outputs are complete.
WorkDone run_rows(const RunRequest& request, const RunSpec& spec);

}  // namespace tinyot::tools
