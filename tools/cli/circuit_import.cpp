// `tinyot circuit import`: makes a circuit file from a Verilog design.
#include <chrono>
#include <utility>

#include "base/error.h"
#include "circuitgen/formats/bristol_writer.h"
#include "circuitgen/formats/file_description.h"
#include "circuitgen/formats/verilog/design_text.h"
#include "circuitgen/formats/verilog/import.h"
#include "system/output_file.h"
#include "tools/cli/circuit_spec.h"
#include "tools/cli/failure.h"
#include "tools/cli/log.h"
#include "tools/cli/render/circuit.h"
#include "tools/cli/render/text.h"

namespace tinyot::tools {
namespace {

using circuit::Goal;
using circuit::Macros;
using circuit::PortRoles;
using circuit::Receiver;

PortRoles roles_from(const CommandLine& line) {
  PortRoles roles;
  for (const std::string& text : line.list("owner")) {
    const auto [port, source] = split_assignment("owner", text);
    roles.owners[port] = input_source("owner", source);
  }
  for (const std::string& text : line.list("receiver")) {
    const auto [port, receiver] = split_assignment("receiver", text);
    roles.receivers[port] = parse_choice(
        "receiver", receiver, {Receiver::A, Receiver::B, Receiver::Both, Receiver::None});
  }
  if (line.has("to"))
    roles.other_receivers =
        parse_choice("to", line.text("to"), {Receiver::A, Receiver::B, Receiver::Both});
  return roles;
}

void log_defaults(const std::vector<std::string>& defaults) {
  if (defaults.empty()) return;
  std::string list;
  for (const std::string& port : defaults) list += (list.empty() ? "" : ", ") + port;
  log_line(LogLevel::Info, "by default " + list +
                               ": --owner, --to and --receiver, or attributes "
                               "of the ports, say otherwise");
}

system::Limits limits_from(const CommandLine& line) {
  constexpr std::uint64_t kSecondsMax = 1'000'000;
  system::Limits limits;
  const std::uint64_t seconds = line.size("timeout");
  if (seconds < 1 || seconds > kSecondsMax)
    throw UsageError("--timeout must be 1 to " + grouped(kSecondsMax) + " s");
  limits.time = std::chrono::seconds(seconds);
  limits.memory_bytes = line.size("memory");
  return limits;
}

void require_sandbox(const system::Confinement& yosys, bool is_required, bool quiet) {
  if (!yosys.missing()) return;
  const auto& [reason, remedy] = *yosys.missing();
  const std::string text = "there is no sandbox for Yosys, as " + reason + ": " + remedy;
  if (is_required) throw CommandError(text, ExitStatus::Usage, remedy);
  if (!quiet) log_line(LogLevel::Warning, text + "; --require-sandbox refuses to go on");
}

}  // namespace

int circuit_import(const Arguments& arguments) {
  CommandLine line("circuit import", "FILE --top NAME --output FILE [options]",
                   "tinyot circuit import alu.v --top alu --output alu.txt");
  line.options()
      .value("design", "file in Verilog, or the part of SystemVerilog that Yosys reads")
      .value("top", "the module whose ports are the inputs and outputs of the circuit")
      .value("output", "Bristol Fashion file to write; it gets its name only when it is complete")
      .flag("depth", "minimise the AND depth, at the cost of ANDs")
      .values("owner", "PORT=A|B|shared|public: owner of an input")
      .value("to", "A, B or both: who learns the outputs")
      .values("receiver", "PORT=A|B|both|none: who learns this output")
      .flag("require-sandbox", "refuse to start Yosys without a sandbox")
      .value("timeout", "seconds that Yosys may take", "600")
      .value("memory", "memory that Yosys may use", "4Gi");
  line.positional("design", 1);
  line.require("design");
  line.require("top");
  line.require("output");
  if (!line.parse(arguments)) return 0;
  const std::string path = line.text("output");
  const std::string design = line.text("design");
  const PortRoles roles = roles_from(line);
  const system::Limits limits = limits_from(line);
  const std::string content = circuit::design_text(design);
  circuit::refuse_requests(content, design, Macros::Any);  // before Yosys is looked for
  const system::Confinement yosys = circuit::confined_yosys();
  require_sandbox(yosys, line.has("require-sandbox"), line.common().quiet);
  if (yosys.sandbox() == system::Sandbox::None)
    circuit::refuse_requests(content, design, Macros::Plain);
  const auto warn = [&](const std::string& text) {
    if (!line.common().quiet) log_line(LogLevel::Warning, text);
  };
  const std::vector<circuit::Candidate> candidates =
      circuit::import_design(yosys, {design, content, line.text("top")}, roles,
                             line.has("depth") ? Goal::Depth : Goal::Ands, limits, warn);
  const circuit::Candidate& best = candidates.front();
  system::NewFile file(path);
  circuit::write_bristol_fashion(*best.circuit, file.stream());
  circuit::write_description(best.circuit->info(), file.stream());
  file.finish();
  if (!line.common().quiet) log_defaults(best.defaults);

  print(line.common().format, ImportReport{candidates, yosys.sandbox(), path});
  return 0;
}

}  // namespace tinyot::tools
