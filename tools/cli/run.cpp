#include "tools/cli/run.h"

#include "base/error.h"
#include "engine/connection.h"
#include "tools/cli/metrics_option.h"
#include "tools/cli/progress.h"
#include "tools/cli/rows/run_rows.h"

namespace tinyot::tools {
namespace {

constexpr std::uint64_t kLiveUnit = std::uint64_t{1} << 19;

// This party's values, all of them and no others.
Values my_values(const NamedCircuit& circuit, const RunJob& job) {
  Values values = parse_inputs(circuit, job.inputs);
  std::vector<std::string> missing, foreign;
  for (const circuit::InputBundle& bundle : circuit.info().inputs) {
    const bool is_mine = bundle.owner == job.party, is_given = values.contains(bundle.name);
    if (is_mine && !is_given) missing.push_back("--input " + bundle.name + "=...");
    if (!is_mine && is_given) foreign.push_back(bundle.name);
  }
  refuse_missing(missing, std::string(" (of party ") + letter(job.party) + ")");
  if (!foreign.empty())
    throw UsageError("--input " + foreign[0] + " does not belong to party " + letter(job.party));
  return values;
}

// Fails: UsageError if the party does not learn an output that it wants in a file.
OutputFiles open_outputs(const NamedCircuit& circuit, const RunJob& job) {
  for (const auto& [name, path] : job.outputs)
    if (!circuit::receives(circuit.info().outputs[circuit.output_index(name)].to, job.party))
      throw UsageError("--output " + name + ": party " + letter(job.party) + " does not learn it");
  return OutputFiles(job.outputs);
}

Json hand_out(const NamedCircuit& circuit, OutputFiles& files, const Values& values) {
  Json outputs = Json::object();
  for (std::size_t i = 0; i < circuit.info().outputs.size(); ++i) {
    const std::string& name = circuit.info().outputs[i].name;
    if (values.contains(name)) files.hand_out(name, circuit.print(i, values.at(name)), outputs);
  }
  return outputs;
}

}  // namespace

Json run_report(const RunJob& job, const NamedCircuit& circuit, const RunResult& evaluation) {
  const std::uint64_t ands = evaluation.ands, gates = ands + evaluation.xors;
  const auto rate = [&](std::uint64_t count) {
    return evaluation.wall_s > 0 ? static_cast<double>(count) / evaluation.wall_s : 0;
  };
  Json report = {{"party", std::string(1, letter(job.party))},
                 {"command", "run"},
                 {"session", evaluation.session},
                 {"circuit", circuit.info().name},
                 {"fingerprint", text_of(circuit.fingerprint())},
                 {"ands", ands},
                 {"gates", gates}};
  if (circuit.has_blocks()) report["blocks"] = circuit.lanes();
  report["lanes"] = circuit.lanes();
  report["window"] = evaluation.window;
  report["and_rounds"] = evaluation.and_rounds;
  report["live"] = job.live.has_value();
  add_security(report, evaluation.security);
  add_units(report, evaluation.security);
  report["threads"] = 1;
  report["wall_s"] = evaluation.wall_s;
  report["ands_per_s"] = rate(ands);
  report["gates_per_s"] = rate(gates);
  report["wire_wait_s"] = evaluation.wire_wait_s;
  report["store_wait_s"] = evaluation.store_wait_s;
  report["opening_s"] = evaluation.opening_s;
  report["blocks_s"] = evaluation.blocks_s;
  report["store_bytes"] = evaluation.store_bytes;
  for (const MaterialKind kind : kAllMaterialKinds)
    if (evaluation.burnt[kind] > 0)
      report["burnt"][std::string(name_of(kind))] = evaluation.burnt[kind];
  add_measurements(report, evaluation.phases);
  return report;
}

void add_run_options(Options& options) {
  options.group("Circuit").value(
      "circuit", "name of a circuit (tinyot circuit list), such as aes128:sbox=shallow, or a file");
  add_input_option(options);
  add_output_options(options);
  add_circuit_options(options);
  add_window_option(options);
  options.group("Material")
      .flag("live",
            "no store: make the material during the run, over a second connection; both parties "
            "give it")
      .flag("reserve-only",
            "reserve the run's material in both stores and print the reservation's number; inputs "
            "are not needed yet")
      .rare()
      .value("reservation", "run on reserved material: the number of the reservation")
      .rare()
      .value("ledger",
             "FILE to which the run appends what it takes from the store, before it uses it")
      .rare();
  add_parameter_options(options);
}

namespace {

// Smaller units, which are ready earlier and leave more memory to the run, unless a size is given.
ParameterRequest live_parameters_from(const CommandLine& line) {
  ParameterRequest parameters = parameters_from(line);
  if (!parameters.unit && !parameters.bucket && parameters.profile == Profile::Fast)
    parameters.unit = kLiveUnit;
  return parameters;
}

}  // namespace

RunJob run_job_from(const CommandLine& line) {
  RunJob job;
  job.circuit = circuit_spec_from(line, line.text("circuit"));
  job.inputs = read_inputs(line.list("input"));
  job.outputs = output_paths_from(line);
  job.window = window_from(line);
  job.quiet = line.common().quiet;
  if (line.has("ledger")) job.ledger = line.text("ledger");
  job.reserve_only = line.has("reserve-only");
  job.reservation = line.optional_size("reservation");
  if (job.reserve_only && job.reservation)
    throw UsageError(
        "--reserve-only makes a reservation and --reservation uses one: give only one of the two");
  if (line.has("live") && (job.reserve_only || job.reservation))
    throw UsageError("--live has no store to reserve from");
  if (line.has("live"))
    job.live = live_parameters_from(line);
  else
    refuse_parameter_options(line, "requires --live: stored material has been made already");
  return job;
}

void set_store(RunJob& job, const CommandLine& line) {
  if (job.live && line.has("store"))
    throw UsageError("--live makes its material during the run and takes no --store");
  if (job.live && line.has("store-key"))
    throw UsageError("--live stores nothing that --store-key could seal");
  if (job.live) return;
  job.stores = stores_from(line);
  if (job.stores.size() > 1 && (job.reserve_only || job.reservation))
    throw UsageError("--reserve-only and --reservation need a single --store");
  job.store_key = store_key_from(line);
}

namespace {

CommandResult reserve(const RunJob& job) {
  const NamedCircuit circuit(job.circuit);
  const ReservedMaterial reserved = tinyot::reserve(job, circuit);
  Json report = {{"party", std::string(1, letter(job.party))},
                 {"command", "run --reserve-only"},
                 {"circuit", circuit.info().name},
                 {"fingerprint", text_of(circuit.fingerprint())},
                 {"reservation", reserved.number}};
  for (const MaterialKind kind : kAllMaterialKinds)
    if (reserved.count[kind] > 0)
      report["kinds"][std::string(name_of(kind))] = {{"first", reserved.first[kind]},
                                                     {"count", reserved.count[kind]}};
  return {report, 0};
}

}  // namespace

CommandResult run(const RunJob& job) {
  if (job.reserve_only) return reserve(job);
  if (job.rows) return run_rows(job);
  // Errors on this side are found before the first byte is sent.
  const NamedCircuit circuit(job.circuit);
  const auto inputs = my_values(circuit, job);
  OutputFiles files = open_outputs(circuit, job);
  std::optional<Progress> progress;
  RunRequest request = job;
  if (!job.quiet) {
    request.progress = [&](std::uint64_t done, std::uint64_t total) {
      if (!progress) progress.emplace("ANDs", total, false);
      progress->observe("gates", done);
    };
  }
  const RunResult evaluation = tinyot::run(request, circuit, inputs);
  progress.reset();
  Json report = run_report(job, circuit, evaluation);
  report["outputs"] = hand_out(circuit, files, evaluation.outputs);
  return {report, 0};
}

std::string run_text(const Json& report) {
  if (report["command"] == "run --reserve-only")
    return "party " + report["party"].get<std::string>() + ": material for " +
           report["circuit"].get<std::string>() + " is reserved; run it with --reservation " +
           std::to_string(report["reservation"].get<std::uint64_t>()) + "\n";
  std::string text = "party " + report["party"].get<std::string>() + ": " +
                     report["circuit"].get<std::string>() + ", " + grouped(report["ands"]) +
                     " ANDs (" + grouped(report["gates"]) + " gates) in " +
                     seconds_text(report["wall_s"]) + ", " +
                     grouped(static_cast<std::uint64_t>(report["ands_per_s"].get<double>())) +
                     " ANDs/s" + ", on material of " + profile_text(security_from(report)) + "\n";
  if (report.contains("burnt"))
    for (const auto& [name, value] : report["burnt"].items())
      text += grouped(value.get<std::uint64_t>()) + " " + name +
              " were skipped, because the peer's store was ahead\n";
  return text + outputs_text(report["outputs"]);
}

int run_command(const Arguments& arguments) {
  CommandLine line(
      "run",
      "--party A|B (--listen | --connect) HOST:PORT (--store DIR | --live) --circuit NAME|FILE "
      "[options]",
      "tinyot run --party A --listen 127.0.0.1:7766 --store store-a --circuit aes128 --input "
      "key_a=@key.hex --input message=@message.hex");
  add_endpoint_options(line.options());
  line.options().group("Store").several(
      "store", "directory of this party's store, or of several shards of a session, or 'DIR/*'");
  add_store_key_option(line.options());
  add_run_options(line.options());
  add_rows_options(line.options());
  add_metrics_option(line.options());
  line.require("party");
  line.require_one_of({"listen", "connect"});
  line.require_one_of({"store", "live"});
  line.require("circuit");
  if (!line.parse(arguments)) return 0;
  RunJob job = run_job_from(line);
  job.rows = rows_from(line);
  job.party = party_from(line);
  job.endpoint = endpoint_from(line);
  set_store(job, line);
  const CommandResult result =
      with_metrics(line, {"run", job.stores, job.store_key}, [&] { return run(job); });
  print_report(line.common().format, result.report, run_text(result.report));
  return result.exit_status;
}

}  // namespace tinyot::tools
