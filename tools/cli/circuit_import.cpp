#include "circuitgen/formats/verilog/import.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "circuitgen/formats/bristol_writer.h"
#include "circuitgen/formats/file_description.h"
#include "system/output_file.h"
#include "tinyot/circuit/fingerprint.h"
#include "tools/cli/render/circuit.h"
#include "tools/cli/circuit_spec.h"
#include "tools/cli/failure.h"
#include "tools/cli/log.h"
#include "circuitgen/formats/verilog/design_text.h"

namespace tinyot::tools {
namespace {

using circuit::Receiver;

Receiver receiver_named(const std::string& option, const std::string& text, bool allows_none) {
  for (const Receiver to : {Receiver::A, Receiver::B, Receiver::Both, Receiver::None})
    if (text == name_of(to) && (to != Receiver::None || allows_none)) return to;
  throw UsageError("--" + option + " must be A, B" + (allows_none ? ", both or none" : " or both") +
                   ", not '" + text + "'");
}

PortRoles roles_from(const CommandLine& line) {
  PortRoles roles;
  for (const std::string& text : line.list("owner")) {
    const auto [port, party] = split_assignment("owner", text);
    roles.owners[port] = parse_party("owner", party);
  }
  for (const std::string& text : line.list("receiver")) {
    const auto [port, receiver] = split_assignment("receiver", text);
    roles.receivers[port] = receiver_named("receiver", receiver, true);
  }
  if (line.has("to")) roles.other_receivers = receiver_named("to", line.text("to"), false);
  return roles;
}

bool is_better(const Candidate& x, const Candidate& y, Goal goal) {
  const auto key = [&](const Candidate& each) {
    return goal == Goal::Ands ? std::pair(each.cost.ands, each.cost.and_depth)
                              : std::pair(each.cost.and_depth, each.cost.ands);
  };
  return key(x) < key(y);
}

void log_defaults(const std::vector<std::string>& by_default) {
  if (by_default.empty()) return;
  std::string list;
  for (const std::string& port : by_default) list += (list.empty() ? "" : ", ") + port;
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

void require_sandbox(const Confinement& yosys, bool is_required, bool quiet) {
  if (!yosys.missing()) return;
  const auto& [reason, remedy] = *yosys.missing();
  const std::string text = "there is no sandbox for Yosys, as " + reason + ": " + remedy;
  if (is_required) throw CommandError(text, ExitStatus::Usage, remedy);
  if (!quiet) log_line(LogLevel::Warning, text + "; --require-sandbox refuses to go on");
}

}  // namespace

std::vector<Candidate> import_design(const Confinement& yosys, const Design& design,
                                     const PortRoles& roles, Goal goal,
                                     const system::Limits& limits, bool quiet) {
  std::vector<Candidate> candidates;
  for (const Synthesis& synthesis : synthesise(yosys, design, goal, limits, quiet)) {
    Netlist netlist = read_netlist(synthesis.design, design.top, design.file);
    DescribedPorts ports = describe_ports(netlist, roles);
    auto circuit = std::make_unique<NetlistCircuit>(std::move(netlist), std::move(ports.info));
    const circuit::CircuitCost cost = cost_of(*circuit);
    candidates.push_back({synthesis.name, std::move(circuit), cost, std::move(ports.by_default)});
  }
  std::ranges::stable_sort(
      candidates, [&](const Candidate& x, const Candidate& y) { return is_better(x, y, goal); });
  return candidates;
}

int circuit_import(const Arguments& arguments) {
  CommandLine line("circuit import", "FILE --top NAME --output FILE [options]",
                   "tinyot circuit import alu.v --top alu --output alu.txt");
  line.options()
      .value("design", "file in Verilog, or the part of SystemVerilog that Yosys reads")
      .value("top", "the module whose ports are the inputs and outputs of the circuit")
      .value("output", "Bristol Fashion file to write; it gets its name only when it is complete")
      .flag("depth", "minimise the AND depth, at the cost of ANDs")
      .values("owner", "PORT=A|B: owner of an input")
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
  const std::string content = design_text(design);
  refuse_requests(content, design, Macros::Any);  // before Yosys is looked for
  const Confinement yosys = confined_yosys();
  require_sandbox(yosys, line.has("require-sandbox"), line.common().quiet);
  if (yosys.sandbox() == Sandbox::None) refuse_requests(content, design, Macros::Plain);
  const std::vector<Candidate> candidates =
      import_design(yosys, {design, content, line.text("top")}, roles,
                    line.has("depth") ? Goal::Depth : Goal::Ands, limits, line.common().quiet);
  const Candidate& best = candidates.front();
  system::NewFile file(path);
  circuit::write_bristol_fashion(*best.circuit, file.stream());
  circuit::write_description(best.circuit->info(), file.stream());
  file.finish();
  if (!line.common().quiet) log_defaults(best.by_default);

  const std::uint64_t bytes = std::filesystem::file_size(path);
  Json report = {{"circuit", best.circuit->info().name}};
  std::string text = best.circuit->info().name + ": " + gates_text(best.cost) + "\n" +
                     bundles_text(best.circuit->info());
  const std::string fingerprint = text_of(fingerprint_of(*best.circuit));
  report["fingerprint"] = fingerprint;
  text += "fingerprint: " + fingerprint + "\n";
  add_gates(report, best.cost);
  add_bundles(report, best.circuit->info());
  report["synthesis"] = best.name;
  report["candidates"] = Json::array();
  for (const Candidate& each : candidates) {
    report["candidates"].push_back(
        {{"synthesis", each.name}, {"ands", each.cost.ands}, {"and_depth", each.cost.and_depth}});
    text += "synthesis " + each.name + ": " + grouped(each.cost.ands) + " ANDs, AND depth " +
            grouped(each.cost.and_depth) + (&each == &best ? ", taken\n" : "\n");
  }
  report["sandbox"] = name_of(yosys.sandbox());
  report["output"] = path;
  report["bytes"] = bytes;
  text +=
      "sandbox: " + name_of(yosys.sandbox()) + "\nin " + path + ", " + grouped(bytes) + " bytes\n";
  print_report(line.common().format, report, text);
  return 0;
}

}  // namespace tinyot::tools
