// `tinyot run --rows`: a circuit on the rows of a table, a lane a row, as many at a time as memory
// is to hold. The outputs are the rows of another table, in the same order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "tools/cli/run.h"

namespace tinyot::tools {

void add_rows_options(Options& options);
// Absent without --rows. Fails: UsageError.
std::optional<RowsJob> rows_from(const CommandLine& line);

// All rows are read before the first byte is sent. The parties compare their numbers of rows with
// the first of them. Fails: UsageError naming the line of a row that cannot be read; then as
// Evaluator. Rows in the file of outputs are complete.
CommandResult run_rows(const RunJob& job);

}  // namespace tinyot::tools
