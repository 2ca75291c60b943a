// `tinyot preprocess`: makes material with the peer and pours it into this party's store.
#pragma once

#include <filesystem>

#include "base/parameters.h"
#include "tools/command_line.h"
#include "tools/report.h"

namespace tinyot {

struct PreprocessJob {
  Party party = Party::A;
  Endpoint endpoint;
  std::filesystem::path store;
  ParameterRequest parameters;
  std::uint64_t ands = 0;    // that the store is to have made in all
  std::uint64_t inputs = 0;  // aBits of each party beyond one an AND
  std::uint64_t threads = 1;
  bool resume = false;
  bool quiet = false;
};

void add_preprocess_options(po::options_description& options);
// By name. Fails: UsageError naming the option.
Columns columns_from(const std::string& option, const std::string& name);
// All but party, endpoint and store.
PreprocessJob preprocess_job_from(const CommandLine& line);

struct JobResult {
  Json report;
  int exit_status = 0;  // 0, or 130 / 143 if a signal ended the job after a unit
};
JobResult preprocess(const PreprocessJob& job);

std::string preprocess_text(const Json& report);

int preprocess_command(const Arguments& arguments);

}  // namespace tinyot
