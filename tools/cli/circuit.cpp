#include "tools/cli/circuit.h"

#include <filesystem>

#include "base/error.h"
#include "circuitgen/evaluate.h"
#include "circuitgen/formats/bristol_writer.h"
#include "circuitgen/formats/file_description.h"
#include "circuitgen/generators/registry.h"
#include "system/output_file.h"
#include "tinyot/evaluate.h"
#include "tools/cli/render/circuit.h"
#include "tools/cli/circuit_spec.h"
#include "tools/cli/preprocess.h"
#include "tools/cli/run_estimate.h"

namespace tinyot::tools {
namespace {

CommandLine circuit_line(const std::string& verb, const std::string& more,
                         const std::string& example) {
  CommandLine line("circuit " + verb, "NAME|FILE" + more, example);
  line.options().value("circuit",
                       "name of a circuit (tinyot circuit list), or a file: Bristol Fashion, old "
                       "Bristol, gates with truth tables");
  line.positional("circuit", 1);
  line.require("circuit");
  add_circuit_options(line.options());
  return line;
}

// The circuit as a file describes it, whose numbers may be mirrored.
circuit::CircuitInfo described(const NamedCircuit& circuit, bool msb_first) {
  circuit::CircuitInfo info = circuit.info();
  if (!msb_first) return info;
  const auto mirror = [](circuit::ValueFormat& format) {
    if (format == circuit::ValueFormat::Bytes)
      throw UsageError("--bit-order msb is for numbers, and the circuit has strings of bytes");
    format = format == circuit::ValueFormat::Integer ? circuit::ValueFormat::MsbInteger
                                                     : circuit::ValueFormat::Integer;
  };
  for (circuit::InputBundle& bundle : info.inputs) mirror(bundle.format);
  for (circuit::OutputBundle& bundle : info.outputs) mirror(bundle.format);
  return info;
}

}  // namespace

int circuit_list(const Arguments& arguments) {
  CommandLine line("circuit list", "", "tinyot circuit list --format json");
  if (!line.parse(arguments)) return 0;
  Json names = Json::array(), families = Json::array();
  std::string text;
  for (const circuit::CircuitFamily& family : circuit::circuit_families()) {
    names.push_back(family.name);
    Json parameters = Json::array();
    text += family.name + ": " + family.description + "\n";
    for (const circuit::CircuitParameter& parameter : family.parameters) {
      parameters.push_back({{"name", parameter.name},
                            {"description", parameter.description},
                            {"default", parameter.default_value},
                            {"allowed", parameter.allowed()}});
      text += "    " + parameter.name + "=" + parameter.default_value + "    " +
              parameter.description + " (" + parameter.allowed() + ")\n";
    }
    families.push_back(
        {{"name", family.name}, {"description", family.description}, {"parameters", parameters}});
  }
  text += "Parameters follow the name, as in levenshtein:rows=200,columns=1000\n";
  print_report(line.common().format, {{"circuits", names}, {"families", families}}, text);
  return 0;
}

int circuit_info(const Arguments& arguments) {
  CommandLine line = circuit_line("info", " [--lanes N] [--link wan]",
                                  "tinyot circuit info aes128 --lanes 512 --link wan");
  line.options().value("material", "of the run: pairs or triples", "triples");
  add_window_option(line.options());
  add_estimated_link_options(line.options());
  if (!line.parse(arguments)) return 0;
  const MaterialForm form =
      value_named("material", line.text("material"), {MaterialForm::Pairs, MaterialForm::Triples});
  const auto link = estimated_link_from(line);
  const NamedCircuit circuit(circuit_spec_from(line, line.text("circuit")));
  // Layering a large circuit takes minutes.
  const circuit::CircuitCost& cost = circuit.cost();
  const bool layers = cost.ands + cost.xors <= engine::LoadedCircuit::kSmallGates || link ||
                      line.has("lanes") || line.has("window");
  Json report = {{"name", circuit.info().name}};
  std::string text = circuit.info().name + ": " + gates_text(cost) + "\n";
  add_gates(report, cost);
  report["common_ands"] = cost.common_ands;
  report["fingerprint"] = text_of(circuit.fingerprint());
  report["built_in"] = circuit.is_built_in();
  text += "fingerprint: " + text_of(circuit.fingerprint()) + "\n";
  if (cost.common_ands > 0)
    text += "the same in all lanes, and evaluated once: " + grouped(cost.common_ands) + " ANDs\n";
  add_bundles(report, circuit.info());
  text += bundles_text(circuit.info());
  if (layers) {
    const RunForecast run = run_forecast(circuit, form, line);
    report["run"] = fields_of(run, link);
    text += text_of(run, link);
  } else {
    text += "the rounds of a large circuit are counted with --lanes, --window or a link\n";
  }
  print_report(line.common().format, report, text);
  return 0;
}

int circuit_eval(const Arguments& arguments) {
  CommandLine line = circuit_line("eval", " --input NAME=HEX ...",
                                  "tinyot circuit eval adder64.txt --input 0=0x2a --input 1=0x17");
  line.options().values("input", "NAME=HEX, NAME=@FILE or NAME=- (stdin), for all inputs").secret();
  add_output_base_option(line.options());
  if (!line.parse(arguments)) return 0;
  const NamedCircuit circuit(circuit_spec_from(line, line.text("circuit")));
  const Values inputs = parse_inputs(circuit, read_inputs(line.list("input")));
  std::vector<std::string> missing;
  for (const circuit::InputBundle& bundle : circuit.info().inputs)
    if (!inputs.contains(bundle.name)) missing.push_back("--input " + bundle.name + "=...");
  refuse_missing(missing, {});
  const Values outputs = circuit::evaluate(circuit.circuit(), inputs, circuit.lanes());
  Json values = Json::object();
  std::string text;
  for (std::size_t i = 0; i < circuit.info().outputs.size(); ++i) {
    const std::string& name = circuit.info().outputs[i].name;
    values[name] = circuit.print(i, outputs.at(name));
    text += name + " = " +
            (values[name].is_string() ? values[name].get<std::string>() : values[name].dump()) +
            "\n";
  }
  print_report(line.common().format,
               {{"circuit", circuit.info().name}, {"lanes", circuit.lanes()}, {"outputs", values}},
               text);
  return 0;
}

int circuit_convert(const Arguments& arguments) {
  CommandLine line = circuit_line("convert", " --output FILE",
                                  "tinyot circuit convert aes128 --output aes128.txt");
  line.options()
      .value("output", "Bristol Fashion file to write; it gets its name only when it is complete")
      .flag("forget-receivers",
            "write a plain file, without the comments that say what the inputs and outputs are "
            "called, who owns and who learns them; it is read with input 1 as B's, the others as "
            "A's, and outputs to both, unless --owner and --to say otherwise");
  line.require("output");
  if (!line.parse(arguments)) return 0;
  const NamedCircuit circuit(circuit_spec_from(line, line.text("circuit")));
  const std::string path = line.text("output");
  system::NewFile file(path);
  circuit::write_bristol_fashion(circuit.circuit(), file.stream());
  if (!line.has("forget-receivers"))
    circuit::write_description(described(circuit, line.text("bit-order") == "msb"), file.stream());
  file.finish();
  const std::uint64_t bytes = std::filesystem::file_size(path);
  print_report(line.common().format,
               {{"circuit", circuit.info().name},
                {"ands", circuit.cost().ands},
                {"output", path},
                {"bytes", bytes}},
               circuit.info().name + ": " + grouped(circuit.cost().ands) + " ANDs in " + path +
                   ", " + grouped(bytes) + " bytes\n");
  return 0;
}

}  // namespace tinyot::tools
