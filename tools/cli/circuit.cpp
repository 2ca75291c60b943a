// `tinyot circuit list | info | eval | convert`: lists circuits, shows their costs, evaluates them
// in the clear, and writes them to files.
#include "tools/cli/render/circuit.h"

#include <algorithm>
#include <map>
#include <string>

#include "base/error.h"
#include "circuitgen/evaluate.h"
#include "circuitgen/formats/bristol_writer.h"
#include "circuitgen/formats/file_description.h"
#include "circuitgen/formats/reading.h"
#include "system/output_file.h"
#include "tinyot/evaluate.h"
#include "tools/cli/circuit_spec.h"
#include "tools/cli/local_link.h"
#include "tools/cli/preprocess.h"

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

template <class Bundles>
void set_types(Bundles& bundles, const std::map<std::string, std::string>& types) {
  for (auto& bundle : bundles) {
    const auto given = types.find(bundle.name);
    if (given == types.end() || given->second == TypedValues::kRaw) continue;
    circuit::set_type(bundle, given->second);
  }
}

// The circuit as a file describes it, whose numbers may be mirrored.
circuit::CircuitInfo described(const NamedCircuit& circuit, const CircuitSpec& spec) {
  circuit::CircuitInfo info = circuit.info();
  if (!spec.msb_first) {
    set_types(info.inputs, spec.types);
    set_types(info.outputs, spec.types);
    std::ranges::for_each(info.inputs, circuit::require_possible);
    return info;
  }
  const auto mirror = [](circuit::ValueFormat& format, std::string& type) {
    type.clear();  // it is of numbers whose lowest bit comes first
    if (format == circuit::ValueFormat::Bytes)
      throw UsageError("--bit-order msb is for numbers, and the circuit has strings of bytes");
    format = mirrored(format);
  };
  for (circuit::InputBundle& bundle : info.inputs) mirror(bundle.format, bundle.type);
  for (circuit::OutputBundle& bundle : info.outputs) mirror(bundle.format, bundle.type);
  return info;
}

}  // namespace

int circuit_list(const Arguments& arguments) {
  CommandLine line("circuit list", "", "tinyot circuit list --format json");
  if (!line.parse(arguments)) return 0;
  print_circuits(line.common().format);
  return 0;
}

int circuit_info(const Arguments& arguments) {
  CommandLine line = circuit_line("info", " [--lanes N] [--link wan]",
                                  "tinyot circuit info aes128 --lanes 512 --link wan");
  line.options().value("material", "of the run: aand-aot, triples or garbling", "triples");
  add_window_option(line.options());
  add_shape_options(line.options(), kEstimatedLink);
  if (!line.parse(arguments)) return 0;
  const AndMaterial form = parse_material(line.text("material"));
  const auto link = one_shape_from(line);
  const NamedCircuit circuit(circuit_spec_from(line, line.text("circuit")));
  CircuitReport report{circuit, {}, link};
  // Layering a large circuit takes minutes.
  if (circuit.cost().ands + circuit.cost().xors <= engine::LoadedCircuit::kSmallGates || link ||
      line.has("lanes") || line.has("window"))
    report.run = run_forecast(circuit, form, line, link.value_or(net::LinkShape{}),
                              ParameterRequest().sigma);
  print(line.common().format, report);
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
  for (const circuit::OutputBundle& output : circuit.info().outputs)
    circuit.require_file(output.name, {});
  const Values outputs = circuit::evaluate(circuit.circuit(), inputs, circuit.lanes());
  PrintedOutputs printed;
  for (std::size_t i = 0; i < circuit.info().outputs.size(); ++i)
    printed.push_back(circuit.print(i, outputs.at(circuit.info().outputs[i].name)));
  print(line.common().format, circuit, printed);
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
  const CircuitSpec spec = circuit_spec_from(line, line.text("circuit"));
  const NamedCircuit circuit(spec);
  const std::string path = line.text("output");
  system::NewFile file(path);
  circuit::write_bristol_fashion(circuit.circuit(), file.stream());
  if (!line.has("forget-receivers"))
    circuit::write_description(described(circuit, spec), file.stream());
  file.finish();
  print_converted(line.common().format, circuit, path);
  return 0;
}

}  // namespace tinyot::tools
