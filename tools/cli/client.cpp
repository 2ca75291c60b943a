// `tinyot client ...`: submits jobs to this party's daemon, and asks it for their results and for
// its state.
#include "tools/cli/render/client.h"

#include <algorithm>

#include "base/error.h"
#include "base/lane_bits.h"
#include "circuitgen/formats/values.h"
#include "tools/cli/circuit_spec.h"
#include "tools/cli/client_rows.h"
#include "tools/cli/daemon_options.h"
#include "tools/cli/failure.h"
#include "tools/cli/log.h"
#include "tools/cli/outputs.h"
#include "tools/cli/signals.h"

namespace tinyot::tools {
namespace {

using service::DaemonConnection;
using service::RemoteJob;
using service::RemoteOutput;
using service::RemoteResult;

DaemonConnection daemon_from(const CommandLine& line) {
  return DaemonConnection(server_address_from(line));
}

std::string peer_from(const CommandLine& line) { return line.has("peer") ? line.text("peer") : ""; }

service::JobName job_from(const CommandLine& line) { return {line.text("job"), peer_from(line)}; }

void add_wait_options(Options& options) {
  options.group("Result")
      .value("wait",
             "seconds to wait for the result; the job goes on afterwards. Default: no limit")
      .flag("forget", "the daemon drops the job and its outputs once they have been printed")
      .advanced();
}

// The requests for a job that is there already.
CommandLine job_line(const std::string& verb, const std::string& more = {}) {
  CommandLine line("client " + verb, "JOB [--peer NAME]" + more,
                   "tinyot client " + verb + " payroll-7");
  add_server_options(line.options());
  line.options()
      .group("Job")
      .value("job", "id of the job")
      .value("peer", "name of the peer, if jobs with several peers have this id");
  line.positional("job", 1);
  line.require("job");
  return line;
}

// The requests about a peer.
CommandLine peer_line(const std::string& verb, const std::string& help) {
  CommandLine line("client " + verb, "--peer NAME", "tinyot client " + verb + " --peer bank");
  add_server_options(line.options());
  line.options().value("peer", help);
  line.require("peer");
  return line;
}

// Without the job's circuit, outputs are printed by their type or in their format, a list of them
// if there are lanes.
class OutputFormat {
 public:
  OutputFormat(const CommandLine& line, const NamedCircuit* circuit)
      : circuit_(circuit), base_(circuit_spec_from(line, {}).output_base) {}

  // A built-in circuit is that of the job, which may compute in other types than another one of its
  // family. Fails: UsageError.
  void require_circuit_of(const RemoteJob& job) const {
    if (circuit_ == nullptr || circuit_->is_file() || circuit_->info().name == job.circuit) return;
    throw UsageError("job " + job.id + " is of circuit " + job.circuit + ", not of " +
                     circuit_->info().name + ": give the job's circuit and types, or none");
  }

  // Fails: UsageError for an output that the circuit does not have.
  PrintedOutput print(const RemoteOutput& output, std::size_t lanes) const {
    if (circuit_ != nullptr) {
      const std::size_t index = circuit_->output_index(output.name);
      if (circuit_->info().outputs[index].bits != output.values.bits() ||
          circuit_->lanes() != lanes)
        throw UsageError("output " + output.name + " has " + std::to_string(output.values.bits()) +
                         " bits in each of " + std::to_string(lanes) +
                         " lanes, unlike that of the circuit given: give the job's --circuit, "
                         "--lanes or --blocks");
      if (const std::string& type = circuit_->info().outputs[index].type; type != output.type)
        throw UsageError("output " + output.name + " of the job has " + named(output.type) +
                         ", and that of the circuit given has " + named(type) +
                         ": give the job's circuit, or none");
      return circuit_->print(index, output.values);
    }
    if (!output.type.empty())
      return TypedValues(output.type, {}, output.name,
                         static_cast<std::uint32_t>(output.values.bits()), output.format, base_)
          .print(output.values);
    PrintedOutput printed{output.name, {}, output.values.lanes() != 1};
    for (std::size_t lane = 0; lane < output.values.lanes(); ++lane)
      printed.values.push_back(
          circuit::print_value(to_bits(output.values[lane]), output.format, false, base_));
    return printed;
  }

 private:
  static std::string named(const std::string& type) {
    return type.empty() ? "no type" : "type " + type;
  }

  const NamedCircuit* circuit_;
  circuit::NumberBase base_;
};

// An output that was wanted in a file, but that this party does not learn, is an error; the others
// are printed all the same.
int print_result(const CommandLine& line, const std::string& verb, DaemonConnection& daemon,
                 const RemoteResult& result, const OutputFormat& format, OutputFiles& files) {
  if (result.job.failure) throw Error(result.job.failure->error_class, result.job.failure->message);
  if (result.job.state == RemoteJob::State::Cancelled) throw CommandError("the job was cancelled");
  PrintedOutputs outputs;
  for (const RemoteOutput& output : result.outputs)
    files.write(format.print(output, result.job.lanes), outputs);
  print(line.common().format, "client " + verb, result.job, outputs);
  if (line.has("forget")) daemon.forget({result.job.id, result.job.peer});
  int status = 0;
  for (const auto& [name, path] : output_paths_from(line)) {
    if (std::ranges::find(result.outputs, name, &RemoteOutput::name) != result.outputs.end())
      continue;
    log_line(LogLevel::Error, "--output " + name + ": this party does not learn it");
    status = static_cast<int>(ExitStatus::Usage);
  }
  return status;
}

DaemonConnection::Wait wait_from(const CommandLine& line) {
  constexpr std::uint64_t kWaitMax = 7 * 24 * 3600;
  DaemonConnection::Wait wait;
  if (const auto limit = line.optional_size("wait")) {
    if (*limit < 1 || *limit > kWaitMax)
      throw UsageError("--wait is out of range: 1 second to a week");
    wait.limit = std::chrono::seconds(*limit);
  }
  return wait;
}

[[noreturn]] void fail_waiting(const CommandLine& line, const RemoteJob& job) {
  const std::string& id = job.id;
  const std::string more = (line.has("peer") ? " --peer " + line.text("peer") : "") +
                           (line.is_explicit("server") ? " --server " + line.text("server") : ""),
                    remedy = "tinyot client result " + id + more +
                             " waits for its result, tinyot client cancel " + id + more +
                             " cancels it";
  throw CommandError("no result after " + line.text("wait") + " s: job " + id + " is " +
                         outcome_text(job) + "; " + remedy,
                     ExitStatus::Network, remedy);
}

// The options of a new job, and what they say.
struct Submission {
  CircuitSpec spec;
  NamedCircuit circuit;
  JobCircuit sent;
  Values inputs;

  Submission(const CommandLine& line, const std::string& verb)
      : spec(circuit_spec_from(line, line.text("circuit"))), circuit(spec),
        sent(job_circuit_from(line, spec, circuit)),
        inputs(parse_inputs(circuit, read_inputs(line.list("input")))) {
    const OutputPaths files = output_paths_from(line);
    for (const auto& [name, path] : files) (void)circuit.output_index(name);
    if (verb == "run")
      for (const circuit::OutputBundle& output : circuit.info().outputs)
        circuit.require_file(output.name, files);
  }

  RemoteJob submit(const CommandLine& line, DaemonConnection& daemon) const {
    return daemon.submit({line.text("job"), peer_from(line), spec.name, sent.file, circuit.lanes(),
                          inputs, sent.online});
  }
};

CommandLine submission_line(const std::string& verb) {
  CommandLine line(
      "client " + verb, "--job ID --circuit NAME|FILE [--input NAME=@FILE ...]",
      "tinyot client " + verb + " --job payroll-7 --circuit aes128 --input key_b=@key.hex");
  add_server_options(line.options());
  line.options().group("Job").value(
      "job", "id of the job: 1 to 64 letters, digits and . _ -; the peer's program gives the same");
  line.options().value("peer",
                       "name of the peer in the daemon's configuration; default: the only one");
  line.options().value(
      "circuit", "name of a circuit (tinyot circuit list), or a file; the peer's is the same");
  add_input_option(line.options());
  line.options().value("online",
                       "interactive, garbled or masked, the same at both parties; auto: as the "
                       "daemons' configuration says",
                       "auto");
  line.require("job");
  line.require("circuit");
  return line;
}

// Cancels the job after a signal.
int cancel_job(const CommandLine& line, DaemonConnection& daemon, const service::JobName& name) {
  const RemoteJob job = daemon.cancel(name);
  log_line(LogLevel::Info, job.state == RemoteJob::State::Cancelled
                               ? "the job is cancelled at the daemon"
                               : "the job has ended before it could be cancelled");
  print(line.common().format, "client run", job);
  return 128 + StopSignals::received();
}

// Before anything is submitted, which the peer may then evaluate.
void require_results(DaemonConnection& daemon) {
  try {
    daemon.require_results();
  } catch (const Error& error) {
    if (error.error_class() != ErrorClass::Usage) throw;
    throw UsageError(std::string(error.what()) +
                     "; no job was submitted: tinyot client submit does that without the result");
  }
}

}  // namespace

int client_run(const Arguments& arguments) {
  CommandLine line = submission_line("run");
  add_output_options(line.options());
  add_wait_options(line.options());
  add_circuit_options(line.options());
  add_rows_options(line.options());
  if (!line.parse(arguments)) return 0;
  if (const auto rows = rows_from(line)) {
    DaemonConnection daemon = daemon_from(line);
    require_results(daemon);
    return run_client_rows(line, *rows, daemon);
  }
  const Submission submission(line, "run");
  DaemonConnection daemon = daemon_from(line);
  DaemonConnection::Wait wait = wait_from(line);
  OutputFiles files(output_paths_from(line));
  std::stop_source cancel;
  const StopSignals signals(cancel);
  wait.stop = cancel.get_token();
  require_results(daemon);
  const RemoteJob job = submission.submit(line, daemon);
  log_line(LogLevel::Info, "job " + job.id + " is submitted");
  const service::JobName name{job.id, job.peer};
  const auto result = daemon.result(name, wait);
  if (result)
    return print_result(line, "run", daemon, *result, OutputFormat(line, &submission.circuit),
                        files);
  if (StopSignals::received() != 0) return cancel_job(line, daemon, name);
  fail_waiting(line, daemon.status(name));
}

int client_submit(const Arguments& arguments) {
  CommandLine line = submission_line("submit");
  add_circuit_options(line.options());
  if (!line.parse(arguments)) return 0;
  const Submission submission(line, "submit");
  DaemonConnection daemon = daemon_from(line);
  const RemoteJob job = submission.submit(line, daemon);
  if (job.failure) throw Error(job.failure->error_class, job.failure->message);
  print(line.common().format, "client submit", job);
  return 0;
}

int client_status(const Arguments& arguments) {
  CommandLine line = job_line("status");
  if (!line.parse(arguments)) return 0;
  print(line.common().format, "client status", daemon_from(line).status(job_from(line)));
  return 0;
}

int client_result(const Arguments& arguments) {
  CommandLine line = job_line("result", " [--circuit NAME|FILE] [--output NAME=@FILE ...]");
  line.options().value("circuit",
                       "the job's circuit, for outputs as its run prints them; default: numbers");
  add_output_options(line.options());
  add_wait_options(line.options());
  add_circuit_options(line.options());
  if (!line.parse(arguments)) return 0;
  std::optional<NamedCircuit> circuit;
  if (line.has("circuit")) circuit.emplace(circuit_spec_from(line, line.text("circuit")));
  for (const char* option :
       {"lanes", "blocks", "sbox", "owner", "to", "bundles", "bit-order", "type"})
    if (!circuit && line.is_explicit(option))
      throw UsageError("--" + std::string(option) + " is for the circuit: give --circuit");
  const OutputFormat format(line, circuit ? &*circuit : nullptr);
  const DaemonConnection::Wait wait = wait_from(line);
  DaemonConnection daemon = daemon_from(line);
  OutputFiles files(output_paths_from(line));
  if (const auto result = daemon.result(job_from(line), wait)) {
    format.require_circuit_of(result->job);
    return print_result(line, "result", daemon, *result, format, files);
  }
  fail_waiting(line, daemon.status(job_from(line)));
}

int client_cancel(const Arguments& arguments) {
  CommandLine line = job_line("cancel");
  if (!line.parse(arguments)) return 0;
  print(line.common().format, "client cancel", daemon_from(line).cancel(job_from(line)));
  return 0;
}

int client_stock(const Arguments& arguments) {
  CommandLine line("client stock", "[--peer NAME]", "tinyot client stock --format json");
  add_server_options(line.options());
  line.options().value("peer", "name of a peer; default: all");
  if (!line.parse(arguments)) return 0;
  print(line.common().format, daemon_from(line).stock(peer_from(line)));
  return 0;
}

int client_peers(const Arguments& arguments) {
  CommandLine line("client peers", "", "tinyot client peers");
  add_server_options(line.options());
  if (!line.parse(arguments)) return 0;
  print(line.common().format, daemon_from(line).peers());
  return 0;
}

int client_retire(const Arguments& arguments) {
  CommandLine line = peer_line("retire", "name of the peer; all material of the session is lost");
  if (!line.parse(arguments)) return 0;
  const std::string& peer = line.text("peer");
  print_retired(line.common().format, peer, daemon_from(line).retire(peer));
  return 0;
}

int client_resume(const Arguments& arguments) {
  CommandLine line = peer_line("resume", "name of the peer whose refills a limit has stopped");
  if (!line.parse(arguments)) return 0;
  const std::string& peer = line.text("peer");
  daemon_from(line).resume_refills(peer);
  print_resumed(line.common().format, peer);
  return 0;
}

}  // namespace tinyot::tools
