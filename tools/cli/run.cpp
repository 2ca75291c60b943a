// `tinyot run`: evaluates a circuit with the peer, on stored material or, with --live, on material
// made during the run.
#include "tools/cli/run.h"

#include <chrono>
#include <set>
#include <utility>

#include "base/error.h"
#include "tools/cli/endpoint.h"
#include "tools/cli/preprocess.h"
#include "tools/cli/progress.h"
#include "tools/cli/render/run.h"

namespace tinyot::tools {
namespace {

using namespace std::chrono_literals;
constexpr std::chrono::seconds kAnswer = 30s;  // after the peer's inputs have come

// This party gives all of its values and no others.
void check_names(const NamedCircuit& circuit, const std::set<std::string>& given, Party party) {
  std::vector<std::string> missing, foreign;
  for (const circuit::InputBundle& bundle : circuit.info().inputs) {
    const bool is_mine = gives(bundle.source, party), is_given = given.contains(bundle.name);
    if (is_mine && !is_given) missing.push_back("--input " + bundle.name + "=...");
    if (!is_mine && is_given) foreign.push_back(bundle.name);
  }
  refuse_missing(missing, std::string(" (of party ") + letter(party) + ")");
  if (!foreign.empty())
    throw UsageError("--input " + foreign[0] + " does not belong to party " + letter(party));
  for (const std::string& name : given) (void)circuit.input_index(name);
}

std::set<std::string> names_of(const RunSpec& spec) {
  std::set<std::string> names;
  if (spec.later)
    for (const std::string& assignment : spec.later->assignments)
      names.insert(split_assignment("input", assignment).first);
  for (const auto& [name, text] : spec.inputs) names.insert(name);
  return names;
}

// Fails: UsageError if the party does not learn an output that it wants in a file.
OutputFiles open_outputs(const NamedCircuit& circuit, const RunSpec& spec, Party party) {
  for (const auto& [name, path] : spec.outputs)
    if (!circuit::receives(circuit.info().outputs[circuit.output_index(name)].to, party))
      throw UsageError("--output " + name + ": party " + letter(party) + " does not learn it");
  for (const circuit::OutputBundle& output : circuit.info().outputs)
    if (circuit::receives(output.to, party)) circuit.require_file(output.name, spec.outputs);
  return OutputFiles(spec.outputs);
}

PrintedOutputs write_outputs(const NamedCircuit& circuit, OutputFiles& files,
                             const Values& values) {
  PrintedOutputs outputs;
  for (std::size_t i = 0; i < circuit.info().outputs.size(); ++i) {
    const std::string& name = circuit.info().outputs[i].name;
    if (values.contains(name)) files.write(circuit.print(i, values.at(name)), outputs);
  }
  return outputs;
}

WorkDone reserve(const RunRequest& request, const RunSpec& spec) {
  const NamedCircuit circuit(spec.circuit);
  print(spec.common.format,
        ReserveReport{request.party, circuit,
                      tinyot::reserve(request, circuit.circuit(), circuit.lanes())});
  return {};
}

RunResult run_later(const RunRequest& request, const NamedCircuit& circuit,
                    const LaterInputs& later) {
  Evaluator evaluator(request);
  const std::uint64_t prepared = evaluator.prepare(circuit.circuit(), {}, circuit.lanes());
  // Garbled rows may be on their way for long: the peer, too, has prepared the run.
  (void)evaluator.exchange("prepared", {});
  return evaluator.finish(prepared, parse_inputs(circuit, wait_for_inputs(later)));
}

WorkDone run(RunRequest request, const RunSpec& spec) {
  // Errors on this side are found before the first byte is sent.
  const NamedCircuit circuit(spec.circuit);
  const Values inputs = parse_inputs(circuit, spec.inputs);
  check_names(circuit, names_of(spec), request.party);
  OutputFiles files = open_outputs(circuit, spec, request.party);
  Progress progress("ANDs", spec.common.quiet);
  request.progress = [&](std::uint64_t done, std::uint64_t total) {
    progress.observe("gates", done, total);
  };
  const RunResult result = spec.later
                               ? run_later(request, circuit, *spec.later)
                               : tinyot::run(request, circuit.circuit(), inputs, circuit.lanes());
  progress.end();
  print(spec.common.format, RunReport{request,
                                      circuit,
                                      result,
                                      circuit.lanes(),
                                      {},
                                      write_outputs(circuit, files, result.outputs)});
  return {0, result.ands, result.phases};
}

}  // namespace

void add_run_options(Options& options) {
  options.group("Circuit").value(
      "circuit", "name of a circuit (tinyot circuit list), such as aes128:sbox=shallow, or a file");
  add_input_option(options);
  add_output_options(options);
  add_circuit_options(options);
  add_window_option(options);
  add_online_option(options);
  options.group("Material")
      .flag("live",
            "no store: make the material during the run, over a second connection; both parties "
            "give it")
      .flag("reserve-only",
            "reserve the run's material in both stores and print the reservation's number; inputs "
            "are not needed yet")
      .advanced()
      .value("reservation", "run on reserved material: the number of the reservation")
      .advanced()
      .value("ledger",
             "FILE to which the run appends what it takes from the store, before it uses it")
      .advanced();
  add_parameter_options(options);
}

RunSpec run_spec_from(const CommandLine& line, std::optional<LaterInputs> later) {
  InputTexts inputs = later ? InputTexts() : read_inputs(line.list("input"));
  return {circuit_spec_from(line, line.text("circuit")),
          std::move(inputs),
          std::move(later),
          output_paths_from(line),
          {},
          line.has("reserve-only"),
          line.common()};
}

RunRequest run_request_from(const CommandLine& line) {
  RunRequest request;
  request.window = window_from(line);
  request.phase = parse_online(line.text("online"));
  if (line.has("ledger")) request.ledger = line.text("ledger");
  request.reservation = line.optional_size("reservation");
  const bool is_reserved = line.has("reserve-only") || request.reservation;
  if (line.has("reserve-only") && request.reservation)
    throw UsageError(
        "--reserve-only makes a reservation and --reservation uses one: give only one of the two");
  if (line.has("live")) {
    if (is_reserved) throw UsageError("--live has no store to reserve from");
    if (line.has("store"))
      throw UsageError("--live makes its material during the run and takes no --store");
    if (line.has("store-key"))
      throw UsageError("--store-key cannot be used with --live: no store is written");
    request.live = parameters_from(line);
    return request;
  }
  refuse_parameter_options(line, "requires --live: stored material has been made already");
  request.stores = stores_from(line);
  if (request.stores.size() > 1 && is_reserved)
    throw UsageError("--reserve-only and --reservation need a single --store");
  request.store_key = store_key_from(line);
  return request;
}

int run_command(const Arguments& arguments) {
  CommandLine line(
      "run",
      "--party A|B (--listen | --connect) HOST:PORT (--store DIR | --live) --circuit NAME|FILE "
      "[options]",
      "tinyot run --party A --listen 127.0.0.1:7766 --store store-a --circuit aes128 --input "
      "key_a=@key.hex --input message=@message.hex");
  add_endpoint_options(line.options());
  line.options().group("Store").multi_value(
      "store", "directory of this party's store, or of several shards of a session, or 'DIR/*'");
  add_store_key_option(line.options());
  add_run_options(line.options());
  add_later_inputs_options(line.options());
  add_rows_options(line.options());
  add_metrics_option(line.options());
  line.require("party");
  line.require_one_of({"listen", "connect"});
  line.require_one_of({"store", "live"});
  line.require("circuit");
  if (!line.parse(arguments)) return 0;
  RunSpec spec = run_spec_from(line, later_inputs_from(line));
  spec.rows = rows_from(line);
  if (spec.rows) add_column_types(spec.circuit, *spec.rows);
  RunRequest request = run_request_from(line);
  request.party = parse_party("party", line.text("party"));
  if (spec.later) request.row_check = spec.later->row_check;
  // The peer's inputs may come as late as mine.
  request.endpoint = endpoint_from(line, spec.later ? spec.later->timeout + kAnswer : 0s);
  return with_metrics(line, {"run", request.stores, request.store_key}, [&] {
    if (spec.reserve_only) return reserve(request, spec);
    return spec.rows ? run_rows(request, spec) : run(request, spec);
  });
}

}  // namespace tinyot::tools
