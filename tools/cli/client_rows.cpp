#include "tools/cli/client_rows.h"

#include <algorithm>
#include <deque>

#include "base/error.h"
#include "service/configuration.h"
#include "service/names.h"
#include "tools/cli/failure.h"
#include "tools/cli/progress.h"
#include "tools/cli/render/client.h"
#include "tools/cli/signals.h"

namespace tinyot::tools {
namespace {

using service::DaemonConnection;
using service::JobName;
using service::RemotePeer;
using service::RemoteResult;

constexpr std::size_t kJobsAtOnce = 2;  // one waits while the other is evaluated

// The peer that is named, or the only one.
RemotePeer find_peer(const CommandLine& line, DaemonConnection& daemon) {
  std::vector<RemotePeer> peers = daemon.peers();
  if (!line.has("peer") && peers.size() != 1)
    throw UsageError("the daemon has several peers: give --peer");
  const auto found = line.has("peer")
                         ? std::ranges::find(peers, line.text("peer"), &RemotePeer::name)
                         : peers.begin();
  if (found == peers.end()) throw UsageError("there is no peer '" + line.text("peer") + "'");
  return std::move(*found);
}

CircuitSpec rows_spec(const CommandLine& line, const RowsSpec& rows) {
  CircuitSpec spec = circuit_spec_from(line, line.text("circuit"));
  add_column_types(spec, rows);
  return spec;
}

class RowJobs {
 public:
  RowJobs(const CommandLine& line, const RowsSpec& rows, DaemonConnection& daemon)
      : line_(line), spec_(rows_spec(line, rows)), circuit_(spec_),
        sent_(job_circuit_from(line, spec_, circuit_)), at_once_(rows.at_once), daemon_(daemon),
        peer_(find_peer(line, daemon)), party_(service::party_named(peer_.party)),
        input_(circuit_, rows, read_inputs(line.list("input")), spec_, party_),
        outputs_(circuit_, rows, spec_, party_), submitted_(input_.first), done_(input_.first) {
    if (const std::string last = id_of(input_.rows); !service::is_name(last))
      throw UsageError("--job " + line.text("job") + ": ids of its jobs, such as " + last +
                       ", have 1 to 64 letters, digits and . _ -");
  }

  // Returns false if a stop was requested; then all jobs are cancelled.
  bool run(const std::stop_token& stop) {
    Progress progress("rows", line_.common().quiet);
    try {
      while (done_ < input_.rows) {
        while (jobs_.size() < kJobsAtOnce && submitted_ < input_.rows) submit();
        if (!take(stop)) {
          cancel_all();
          say_complete_rows(input_.first, done_);
          return false;
        }
        progress.observe("rows", done_, input_.rows);
      }
    } catch (...) {
      cancel_all();
      say_complete_rows(input_.first, done_);
      throw;
    }
    progress.end();
    return true;
  }

  RowsReport report;

 private:
  struct RowJob {
    JobName name;
    std::uint64_t first = 0, rows = 0;
  };

  // Of the job that begins with this row, the first being 0.
  std::string id_of(std::uint64_t row) const {
    return line_.text("job") + "." + std::to_string(input_.rows) + "." +
           std::to_string(row / at_once_ + 1);
  }

  void submit() {
    RowJob job{
        {id_of(submitted_), peer_.name}, submitted_, std::min(at_once_, input_.rows - submitted_)};
    const Values& values = input_.next(job.rows);
    jobs_.push_back(job);
    daemon_.submit(
        {job.name.id, job.name.peer, spec_.name, sent_.file, job.rows, values, sent_.online});
    submitted_ += job.rows;
  }

  bool take(const std::stop_token& stop) {
    const RowJob job = jobs_.front();
    auto result = daemon_.result(job.name, {.limit = {}, .stop = stop});
    if (!result) return false;
    jobs_.pop_front();
    const std::string rows = "rows " + std::to_string(job.first + 1) + " to " +
                             std::to_string(job.first + job.rows) + ": ";
    if (result->job.failure)
      throw Error(result->job.failure->error_class, rows + result->job.failure->message);
    if (result->job.state != service::RemoteJob::State::Done)
      throw CommandError(rows + "the job was cancelled");
    outputs_.write(values_in(std::move(*result), job.rows), job.rows);
    daemon_.forget(job.name);
    report.rows += job.rows;
    done_ += job.rows;
    return true;
  }

  Values values_in(RemoteResult result, std::uint64_t rows) {
    report.job = line_.text("job");
    report.peer = result.job.peer;
    report.circuit = result.job.circuit;
    ++report.jobs;
    report.ands += result.job.ands;
    report.evaluation_s += result.job.evaluation_s;
    Values values;
    for (service::RemoteOutput& output : result.outputs) {
      const std::size_t index = circuit_.output_index(output.name);
      if (output.values.bits() != circuit_.info().outputs[index].bits ||
          output.values.lanes() != rows)
        throw CommandError("the daemon sent other values than those of output " + output.name);
      values.set(output.name, std::move(output.values));
    }
    return values;
  }

  void cancel_all() noexcept {
    for (const RowJob& job : jobs_) {
      try {
        daemon_.cancel(job.name);
      } catch (const std::exception&) {
        // It has not been accepted, or has ended, or the daemon has.
      }
    }
    jobs_.clear();
  }

  const CommandLine& line_;
  const CircuitSpec spec_;
  const NamedCircuit circuit_;
  const JobCircuit sent_;
  const std::uint64_t at_once_;
  DaemonConnection& daemon_;
  const RemotePeer peer_;
  const Party party_;
  RowsInput input_;
  OutputTable outputs_;
  std::uint64_t submitted_, done_;  // rows
  std::deque<RowJob> jobs_;
};

}  // namespace

JobCircuit job_circuit_from(const CommandLine& line, const CircuitSpec& spec,
                            const NamedCircuit& circuit) {
  refuse_receiver(spec);
  JobCircuit sent;
  if (circuit.is_file()) sent.file = file_options_of(spec);
  if (const auto phase = parse_online(line.text("online"))) sent.online = name_of(*phase);
  return sent;
}

int run_client_rows(const CommandLine& line, const RowsSpec& rows, DaemonConnection& daemon) {
  std::stop_source cancel;
  const StopSignals signals(cancel);
  RowJobs jobs(line, rows, daemon);
  if (!jobs.run(cancel.get_token())) return 128 + StopSignals::received();
  print(line.common().format, jobs.report);
  return 0;
}

}  // namespace tinyot::tools
