// `tinyot local SUBCOMMAND`: both parties of a subcommand as two processes over loopback, stores in
// DIR/A and DIR/B.
#pragma once

#include "tools/cli/pair.h"
#include "tools/cli/run.h"

namespace tinyot::tools {

CommandResult preprocess_locally(const PreprocessJob& job, const std::filesystem::path& dir,
                                 const LocalLink& link);
// `job.inputs` has the inputs of both parties; each party receives its own.
CommandResult run_locally(const RunJob& job, const std::filesystem::path& dir,
                          const LocalLink& link);

int local_preprocess(const Arguments& arguments);
int local_run(const Arguments& arguments);

}  // namespace tinyot::tools
