// Inputs that a run waits for when everything else is prepared (--inputs-later).
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli/circuit_spec.h"

namespace tinyot::tools {

struct LaterInputs {
  std::vector<std::string> assignments;  // NAME=@FILE or NAME=-
  std::chrono::seconds timeout;
  std::optional<RowCheck> row_check;
};

void add_later_inputs_options(Options& options);
// Absent without --inputs-later. Fails: UsageError, for a value on the command line, too.
std::optional<LaterInputs> later_inputs_from(const CommandLine& line);

// Waits until each file exists and standard input has something to read, and reads them. A file
// has to be put in place as a whole, by renaming it. Fails: UsageError if it takes longer than the
// timeout.
InputTexts wait_for_inputs(const LaterInputs& later);

}  // namespace tinyot::tools
