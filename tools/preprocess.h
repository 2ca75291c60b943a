// `tinyot preprocess`: makes material with the peer and pours it into this party's store.
#pragma once

#include <filesystem>

#include "base/error.h"
#include "base/parameters.h"
#include "offline/estimate.h"
#include "offline/unit_size.h"
#include "tools/endpoint.h"
#include "tools/report.h"
#include "tools/store_options.h"

namespace tinyot::tools {

struct PreprocessJob {
  Party party = Party::A;
  Endpoint endpoint;
  std::filesystem::path store;
  std::optional<storage::StoreKey> store_key = {};
  // file of the session that this store is a shard of
  std::optional<std::filesystem::path> session = {};
  std::uint32_t shard = 1, shards = 1;
  ParameterRequest parameters;
  std::uint64_t ands = 0;    // that the store is to have made in all
  std::uint64_t inputs = 0;  // aBits of each party beyond one an AND
  std::uint64_t threads = 1;
  // that a party's units may take, where their size is left open
  std::uint64_t memory_bytes = offline::kPlanMemoryBytes;
  bool resume = false;
  bool stores = true;  // false: the material is dropped, to measure what making it takes
  bool quiet = false;
};

// Options that choose how material is made, and the rest of a job's. A parameter that is not given
// has the profile's default.
void add_parameter_options(Options& options);
void add_preprocess_options(Options& options);
ParameterRequest parameters_from(const CommandLine& line);
// Fails: UsageError naming the first of the parameters' options that is given.
void refuse_parameter_options(const CommandLine& line, const std::string& reason);
// Which of `values` is called so. Fails: UsageError naming the option and all of them.
template <class Value>
Value value_named(const std::string& option, const std::string& name,
                  std::initializer_list<Value> values) {
  std::string known;
  for (const Value value : values) {
    if (name == name_of(value)) return value;
    known += (known.empty() ? "" : " or ") + std::string(name_of(value));
  }
  throw UsageError("--" + option + " is " + known + ", not '" + name + "'");
}
// All but party, endpoint and store.
PreprocessJob preprocess_job_from(const CommandLine& line);

// The job with a unit and with all that its bucket depends on; what the session was begun with goes
// before what would be chosen now. Fails: UsageError naming the option.
PreprocessJob planned(PreprocessJob job, const storage::Manifest* begun = nullptr);

struct JobResult {
  Json report;
  int exit_status = 0;  // 0, or 130 / 143 if a signal ended the job after a unit
};
// Those that both parties must agree on.
std::vector<net::Parameter> parameters_of(const SecurityParameters& params,
                                          const storage::Manifest& security);
// The parameters as a manifest names them, which leaves out what their profile does not have.
storage::Manifest security_of(const SecurityParameters& params,
                              const offline::JobEstimate& estimate);

JobResult preprocess(const PreprocessJob& job);

std::string preprocess_text(const Json& report);

int preprocess_command(const Arguments& arguments);

}  // namespace tinyot::tools
