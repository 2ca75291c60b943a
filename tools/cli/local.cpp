#include "tools/cli/local.h"

#include "base/error.h"
#include "engine/memory.h"
#include "engine/plan.h"
#include "tools/cli/failure.h"

namespace tinyot::tools {
namespace {

std::filesystem::path store_of(const std::filesystem::path& dir, Party party) {
  return dir / std::string(1, letter(party));
}

std::string pair_text(const Json& report, const std::function<std::string(const Json&)>& text) {
  std::string all;
  if (is_failure_report(report)) return all;
  for (const char* party : {"A", "B"})
    if (!report[party].is_null()) all += text(report[party]);
  return all.empty() ? all : all + "both parties: " + seconds_text(report["wall_s"]) + "\n";
}

}  // namespace

int local_preprocess(const Arguments& arguments) {
  CommandLine line("local preprocess",
                   "--store DIR (--ands N | --add N | --until-left N | --for CIRCUIT) [options]",
                   "tinyot local preprocess --store trial --ands 2^18");
  line.options().group("Store").value("store", "directory for both stores, DIR/A and DIR/B");
  add_store_key_option(line.options());
  add_preprocess_options(line.options());
  add_amount_options(line.options());
  add_local_link_options(line.options());
  line.require("store");
  line.require_one_of(amount_options());
  if (!line.parse(arguments)) return 0;
  const PreprocessJob job = stored_job_from(line, store_of(line.text("store"), Party::A));
  const CommandResult result = preprocess_locally(job, line.text("store"), local_link_from(line));
  print_report(line.common().format, result.report, pair_text(result.report, preprocess_text));
  return result.exit_status;
}

int local_run(const Arguments& arguments) {
  CommandLine line(
      "local run", "(--store DIR | --live) --circuit NAME|FILE --input NAME=HEX ... [options]",
      "tinyot local run --store trial --circuit adder64.txt --input 0=0x2a --input 1=0x17");
  line.options().group("Store").value("store", "directory of both stores, DIR/A and DIR/B");
  add_store_key_option(line.options());
  add_run_options(line.options());
  add_local_link_options(line.options());
  line.require_one_of({"store", "live"});
  line.require("circuit");
  if (!line.parse(arguments)) return 0;
  RunJob job = run_job_from(line);
  set_store(job, line);
  const CommandResult result = run_locally(
      job, job.live ? std::filesystem::path() : job.stores.front(), local_link_from(line));
  print_report(line.common().format, result.report, pair_text(result.report, run_text));
  return result.exit_status;
}

CommandResult preprocess_locally(const PreprocessJob& job, const std::filesystem::path& dir,
                                 const LocalLink& link) {
  // Checked once here, so that the two processes do not both refuse it.
  check_memory(engine::planned(job), 2, engine::available_memory_bytes());
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) throw StoreError("cannot make " + dir.string() + ": " + error.message());
  return run_pair(
      [&](Party party, const Endpoint& endpoint) {
        PreprocessJob mine = job;
        mine.party = party;
        mine.endpoint = endpoint;
        mine.store = store_of(dir, party);
        mine.quiet = job.quiet || party == Party::B;  // one progress bar is enough
        return preprocess(mine);
      },
      link);
}

CommandResult run_locally(const RunJob& job, const std::filesystem::path& dir,
                          const LocalLink& link) {
  const NamedCircuit circuit(job.circuit);
  parse_inputs(circuit, job.inputs);  // unknown names and malformed values are refused once
  return run_pair(
      [&](Party party, const Endpoint& endpoint) {
        RunJob mine = job;
        mine.party = party;
        mine.endpoint = endpoint;
        if (!job.live) mine.stores = {store_of(dir, party)};
        mine.quiet = job.quiet || party == Party::B;  // one progress bar is enough
        std::erase_if(mine.inputs, [&](const auto& input) {
          return circuit.info().inputs[circuit.input_index(input.first)].owner != party;
        });
        std::erase_if(mine.outputs, [&](const auto& output) {
          return !circuit::receives(circuit.info().outputs[circuit.output_index(output.first)].to,
                                    party);
        });
        return run(mine);
      },
      link);
}

}  // namespace tinyot::tools
