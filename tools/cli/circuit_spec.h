// A circuit as named on a command line, and its input and output values by name.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/secret_text.h"
#include "circuitgen/evaluate.h"
#include "circuitgen/formats/values.h"
#include "engine/loaded_circuit.h"
#include "engine/run_estimate.h"
#include "tinyot/circuit/gate.h"
#include "tinyot/values.h"
#include "tools/cli/command_line.h"
#include "tools/cli/outputs.h"
#include "tools/cli/typed_values.h"

namespace tinyot::tools {

// Options that choose a circuit and the format of its values.
struct CircuitSpec {
  std::string name = {};                     // of a generator that computes in `types`, or a file
  std::vector<std::string> owners = {};      // i=A|B
  std::optional<std::string> receiver = {};  // A or B; both if absent
  std::optional<std::string> bundles = {};   // widths of input bundles, W0,W1,...
  bool msb_first = false;
  std::map<std::string, std::string> types = {};  // by input or output
  std::map<std::string, std::string> column_types =
      {};  // of the inputs that are columns of a table
  circuit::NumberBase output_base = circuit::NumberBase::Hexadecimal;
  std::optional<std::uint64_t> lanes = {};   // --lanes
  std::optional<std::uint64_t> blocks = {};  // --blocks: lanes that are the blocks of one message
};
void add_circuit_options(Options& options);
// --window: gates that a run layers together. Fails: UsageError.
void add_output_base_option(Options& options);
void add_window_option(Options& options);
std::optional<std::uint64_t> window_from(const CommandLine& line);
void add_online_option(Options& options);
// A value of --online; nothing for auto. Fails: UsageError.
std::optional<OnlinePhase> parse_online(const std::string& name);
CircuitSpec circuit_spec_from(const CommandLine& line, const std::string& name);
// Sets the types of columns, except those that options give. Fails: UsageError if the circuit
// cannot compute in them.
void set_column_types(CircuitSpec& spec, std::map<std::string, std::string> types);

// The format of the same numbers with their bits in the other order. Strings of bytes have none.
circuit::ValueFormat mirrored(circuit::ValueFormat format);

// Fails: UsageError naming the option.
circuit::InputSource input_source(const std::string& option, const std::string& text);

// For a job of daemons, which know a built-in circuit by its name alone. Fails: UsageError.
void refuse_receiver(const CircuitSpec& spec);

// What the options say of a circuit file. Fails: UsageError.
circuit::CircuitFileOptions file_options_of(const CircuitSpec& spec);

// A circuit ready to run, and the format of its values.
class NamedCircuit : public engine::LoadedCircuit {
 public:
  // Fails: UsageError (unknown name, unreadable or malformed file, options that do not fit, types
  // that the circuit does not compute in).
  explicit NamedCircuit(const CircuitSpec& spec);

  // The lanes are the blocks of one message: its value, and the outputs, are one string.
  bool has_blocks() const { return blocks_; }
  bool is_file() const { return !is_built_in(); }

  // Index of an input (output) bundle. Fails: UsageError with the existing names.
  std::size_t input_index(const std::string& name) const;
  std::size_t output_index(const std::string& name) const;

  // Values of one bundle from text: by its type, or one value, or as many as there are lanes,
  // separated as by split_values; with blocks also all of them in one hex string. A string of hex
  // digits for one lane, or for all blocks, may have line ends. A byte order mark is skipped.
  // Fails: UsageError naming the bundle, never the value.
  LaneMatrix parse(std::size_t input, std::string_view text) const;

  // The reverse of parse: a list with --lanes, otherwise one text (with blocks, of all of them).
  PrintedOutput print(std::size_t output, const LaneMatrix& values) const;
  // Raw bytes go into a file only. Fails: UsageError if the output is raw and has no file.
  void require_file(const std::string& output, const OutputPaths& files) const;
  // That values of this type are what the circuit reads or writes. Fails: UsageError with the
  // circuit that computes in them, if there is one.
  template <class Bundle>
  void require_fit(const Bundle& bundle, const std::string& type) const;

 private:
  bool list_of_lanes_, blocks_ = false, msb_first_;
  std::map<std::string, TypedValues> typed_inputs_, typed_outputs_;  // by name
  circuit::NumberBase base_;
};

// The estimated cost of a run in each phase.
struct RunForecast {
  std::size_t lanes;
  AndMaterial form;
  std::vector<engine::RunEstimate> estimates;
  std::vector<engine::RunEstimate> prepared;  // of what follows the inputs, if it can be prepared
  std::vector<double> wall_s = {};            // of each, once it has been measured
};
// Prepared on material of this sigma. Fails: UsageError for the option --window.
RunForecast run_forecast(const NamedCircuit& circuit, AndMaterial form, const CommandLine& line,
                         const net::LinkShape& link, std::uint32_t sigma);

// By name of their bundles.
using InputTexts = std::map<std::string, SecretText>;

// --input NAME=HEX, NAME=@FILE, NAME=-: the text of each.  Fails: UsageError (unreadable file, a
// name given twice).
InputTexts read_inputs(const std::vector<std::string>& assignments);

// Parsed values for each input bundle that is named; absent for the others.
Values parse_inputs(const NamedCircuit& circuit, const InputTexts& texts);

}  // namespace tinyot::tools
