// `tinyot local SUBCOMMAND`: both parties of a subcommand as two processes over loopback, stores in
// DIR/A and DIR/B.
#include <utility>

#include "base/error.h"
#include "engine/memory.h"
#include "engine/plan.h"
#include "engine/two_party_harness.h"
#include "tools/bench/pair.h"
#include "tools/bench/pair_report.h"
#include "tools/cli/preprocess.h"
#include "tools/cli/run.h"

namespace tinyot::tools {
namespace {

namespace fs = std::filesystem;

// The command of a party: its store, if there is one, and the options that are not those of `local`
// itself. One progress bar is enough.
PairCommand command_of(const std::string& subcommand, Party party, const CommandLine& line) {
  static const std::set<std::string> kOwn = {"store",  "input", "output",          "rtt",
                                             "rate",   "link",  "connect-timeout", "idle-timeout",
                                             "config", "quiet"};
  PairCommand command{{subcommand}};
  if (line.has("store"))
    command.add({"--store", engine::store_in(line.text("store"), party).string()});
  command.add(line.given_but(kOwn));
  if (line.common().quiet || party == Party::B) command.add({"--quiet"});
  return command;
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
  for (const char* const option : {"session", "shard"})
    if (line.has(option))
      throw UsageError("--" + std::string(option) +
                       " cannot be used here: both parties would make the same session file");
  // Errors are found once here, so that the two processes do not both report them.
  const fs::path dir = line.text("store");
  check_memory(engine::resolve(stored_request_from(line, engine::store_in(dir, Party::A))), 2,
               engine::available_memory_bytes());
  const LocalLink link = local_link_from(line);
  std::error_code error;
  fs::create_directories(dir, error);
  if (error) throw StoreError("cannot make " + dir.string() + ": " + error.message());
  return print(line.common().format, run_pair({command_of("preprocess", Party::A, line),
                                               command_of("preprocess", Party::B, line)},
                                              link));
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
  // Errors are found once here, so that the two processes do not both report them.
  const RunSpec spec = run_spec_from(line);
  (void)run_request_from(line);
  const NamedCircuit circuit(spec.circuit);
  parse_inputs(circuit, spec.inputs);
  const LocalLink link = local_link_from(line);
  PairCommands commands = {command_of("run", Party::A, line), command_of("run", Party::B, line)};
  for (const Party party : {Party::A, Party::B}) {
    PairCommand& command = commands[static_cast<std::size_t>(party)];
    for (const auto& [name, text] : spec.inputs)
      if (gives(circuit.info().inputs[circuit.input_index(name)].source, party))
        command.add_input(name, view_of(text));
    for (const auto& [name, path] : spec.outputs)
      if (circuit::receives(circuit.info().outputs[circuit.output_index(name)].to, party))
        command.add({"--output", name + "=@" + path});
  }
  return print(line.common().format, run_pair(std::move(commands), link));
}

}  // namespace tinyot::tools
