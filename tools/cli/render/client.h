// What the daemon says of jobs, stock and peers, as reports of `tinyot client`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "service/client.h"
#include "tools/cli/outputs.h"

namespace tinyot::tools {

std::string outcome_text(const service::RemoteJob& job);  // "running"

// `command` as in "client run". With the outputs of a job that is done, if they were asked for.
void print(Format format, const std::string& command, const service::RemoteJob& job,
           const std::optional<PrintedOutputs>& outputs = {});
// Of the jobs of a table, all of which are done.
struct RowsReport {
  std::string job, peer, circuit;  // the id that was given
  std::uint64_t rows = 0, jobs = 0, ands = 0;
  double evaluation_s = 0;  // of all jobs
};
void print(Format format, const RowsReport& report);
void print(Format format, const std::vector<service::RemoteSession>& sessions);
void print(Format format, const std::vector<service::RemotePeer>& peers);
void print_retired(Format format, const std::string& peer, const std::string& session);
void print_resumed(Format format, const std::string& peer);

}  // namespace tinyot::tools
