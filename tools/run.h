// `tinyot run`: evaluates a circuit with the peer, on stored material or with --live on material
// that is made meanwhile.
#pragma once

#include <filesystem>
#include <map>

#include "tools/circuit_spec.h"
#include "tools/preprocess.h"

namespace tinyot::tools {

struct RunJob {
  Party party = Party::A;
  Endpoint endpoint;
  std::vector<std::filesystem::path> stores;  // unless live: one, or the shards of a session
  std::optional<storage::StoreKey> store_key = {};
  std::optional<std::filesystem::path> ledger = {};
  bool reserve_only = false;                      // for a run to come
  std::optional<std::uint64_t> reservation = {};  // that such a run has made
  std::optional<ParameterRequest> live;           // how material is made beside the run
  CircuitSpec circuit;
  InputTexts inputs;  // of this party's bundles
  // file of an output by name; the others go into the report
  std::map<std::string, std::string> outputs;
  std::optional<std::uint64_t> window;  // gates that are layered together
};

void add_run_options(Options& options);
// All but party, endpoint and store. `inputs` are those given, of whichever party.
RunJob run_job_from(const CommandLine& line);

// The store, or none with --live.
void set_store(RunJob& job, const CommandLine& line);

JobResult run(const RunJob& job);
std::string run_text(const Json& report);

int run_command(const Arguments& arguments);

}  // namespace tinyot::tools
