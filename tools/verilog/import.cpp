#include "tools/verilog/import.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "circuitgen/formats/bristol_writer.h"
#include "circuitgen/formats/file_description.h"
#include "tinyot/circuit/fingerprint.h"
#include "tools/circuit_report.h"
#include "tools/circuit_spec.h"
#include "tools/log.h"
#include "tools/new_file.h"

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

}  // namespace

std::vector<Candidate> import_design(const std::string& file, const std::string& top,
                                     const PortRoles& roles, Goal goal, bool quiet) {
  std::vector<Candidate> candidates;
  for (const Synthesis& synthesis : synthesise(file, top, goal, quiet)) {
    Netlist netlist = read_netlist(synthesis.design, top);
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
      .values("receiver", "PORT=A|B|both|none: who learns this output");
  line.positional("design", 1);
  line.require("design");
  line.require("top");
  line.require("output");
  if (!line.parse(arguments)) return 0;
  const std::string path = line.text("output");
  const std::vector<Candidate> candidates =
      import_design(line.text("design"), line.text("top"), roles_from(line),
                    line.has("depth") ? Goal::Depth : Goal::Ands, line.common().quiet);
  const Candidate& best = candidates.front();
  NewFile file(path);
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
  report["output"] = path;
  report["bytes"] = bytes;
  text += "in " + path + ", " + grouped(bytes) + " bytes\n";
  print_report(line.common().format, report, text);
  return 0;
}

}  // namespace tinyot::tools
