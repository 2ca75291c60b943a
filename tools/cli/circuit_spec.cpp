#include "tools/cli/circuit_spec.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/lane_bits.h"
#include "base/suggestion.h"
#include "circuitgen/circuit_for_receiver.h"
#include "circuitgen/formats/circuit_file.h"
#include "circuitgen/formats/reading.h"
#include "circuitgen/formats/values.h"
#include "circuitgen/generators/registry.h"
#include "system/input_file.h"
#include "tools/cli/log.h"

namespace tinyot::tools {
namespace {

// W0,W1,...
std::vector<std::uint32_t> parse_widths(const std::string& text) {
  std::vector<std::uint32_t> widths;
  for (const std::string_view piece : split_values(text)) {
    const std::uint64_t width = parse_size("bundles", std::string(piece));
    if (width == 0 || width > UINT32_MAX)
      throw UsageError("--bundles takes widths in bits, such as 16,16, not '" + text + "'");
    widths.push_back(static_cast<std::uint32_t>(width));
  }
  if (widths.empty()) throw UsageError("--bundles takes widths in bits, such as 16,16");
  return widths;
}

template <class Bundles>
std::size_t index_of(const Bundles& bundles, const std::string& name, const std::string& what,
                     const std::string& circuit) {
  std::string known;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < bundles.size(); ++i) {
    if (bundles[i].name == name) return i;
    names.push_back(bundles[i].name);
    known += (i == 0 ? "" : ", ") + bundles[i].name;
  }
  throw UsageError("circuit " + circuit + " has no " + what + " '" + name + "'" +
                   did_you_mean(name, names) + "; it has " + known);
}

std::vector<std::string_view> split_blocks(std::string_view text, std::size_t digits) {
  std::vector<std::string_view> pieces;
  for (std::size_t at = 0; at < text.size(); at += digits)
    pieces.push_back(text.substr(at, digits));
  return pieces;
}

// Fails: UsageError for a circuit that says how it reads numbers.
void require_bits(const circuit::CircuitInfo& info) {
  const auto is_read = [](const auto& bundle) { return bundle.reading != circuit::Reading::Bits; };
  if (std::ranges::any_of(info.inputs, is_read) || std::ranges::any_of(info.outputs, is_read))
    throw UsageError("--bit-order msb is for circuits that do not say how they read numbers, and " +
                     info.name + " does");
}

circuit::Receiver receiver_of(const std::string& party) {
  return parse_party("to", party) == Party::A ? circuit::Receiver::A : circuit::Receiver::B;
}

engine::LoadedCircuit load(const CircuitSpec& spec) {
  if (spec.lanes && spec.blocks) throw UsageError("give --lanes or --blocks, not both");
  const std::uint64_t lanes = spec.blocks.value_or(spec.lanes.value_or(1));
  if (lanes < 1 || lanes > engine::LoadedCircuit::kLanesMax)
    throw UsageError("--lanes or --blocks is out of range: 1 to 2^24");
  if (auto found = circuit::find_circuit(spec.name)) {
    if (!spec.owners.empty() || spec.bundles)
      throw UsageError("--owner and --bundles are for circuit files; " + spec.name +
                       " has its own");
    if (spec.receiver)
      found = std::make_unique<circuit::CircuitForReceiver>(std::move(found),
                                                            receiver_of(*spec.receiver));
    return engine::LoadedCircuit::of(std::move(found), lanes);
  }
  std::error_code error;
  if (!std::filesystem::is_regular_file(spec.name, error))
    throw UsageError(
        "'" + spec.name + "' is neither a known circuit (see tinyot circuit list) nor a file" +
        did_you_mean(spec.name.substr(0, spec.name.find(':')), circuit::circuit_names()));
  engine::LoadedCircuit file =
      engine::LoadedCircuit::from_file(spec.name, file_options_of(spec), lanes);
  if (!file.has_roles() && spec.owners.empty() && !spec.receiver)
    log_line(LogLevel::Info,
             spec.name +
                 " does not say who owns its inputs and who learns its outputs: input 1 is "
                 "B's, others are A's, and both parties learn the outputs (--owner, --to)");
  return file;
}

}  // namespace

circuit::InputSource input_source(const std::string& option, const std::string& text) {
  using circuit::InputSource;
  return parse_choice(option, text,
                      {InputSource::A, InputSource::B, InputSource::Shared, InputSource::Public});
}

void add_circuit_options(Options& options) {
  options.group("Circuit")
      .value("lanes", "evaluate the circuit n times in parallel; values are lists")
      .value("blocks", "lanes that are the blocks of one message (aes128)")
      .value(
          "sbox",
          "small (fewest ANDs), shallow (fewest rounds) or gf16 (fewest rounds of a masked run): "
          "the S-box of an AES circuit")
      .values("owner", "i=A|B|shared|public: owner of input bundle i of a circuit file")
      .advanced()
      .value("to", "A or B: who learns the outputs; default: both, or whom the circuit names")
      .advanced()
      .value("bundles",
             "widths of the input bundles, such as 16,16, for a file that has only gates with "
             "truth tables")
      .advanced()
      .value("bit-order", "lsb or msb: which bit of a value is wire 0 of a bundle", "lsb")
      .advanced()
      .values("type",
              "NAME=TYPE: how an input or output is written, also as a list if it has room for "
              "several values: u32, i64, hex128, fix32.16, str20 with other numbers; or raw, the "
              "bytes of a file")
      .alias("column");
}

void add_window_option(Options& options) {
  options
      .value(
          "window",
          "gates that are layered into rounds together; default: as many as 256 MB of wires allow, "
          "or up to 512 MB where that saves rounds on a slow link")
      .advanced();
}

void add_output_base_option(Options& options) {
  options.value("output-base",
                "2, 10 or 16: how numbers are printed; byte strings stay hexadecimal", "16");
}

std::optional<std::uint64_t> window_from(const CommandLine& line) {
  constexpr std::uint64_t kWindowMax = std::uint64_t{1} << 26;
  const auto window = line.optional_size("window");
  if (window && (*window < 1 || *window > kWindowMax))
    throw UsageError("--window is out of range: 1 to 2^26 gates");
  return window;
}

void add_online_option(Options& options) {
  options.value("online",
                "interactive (half a round trip a layer), garbled (4 or 5 for any circuit, and 32 "
                "bytes an AND; on material for garbling), masked (as interactive, and part of it "
                "before the inputs; see --inputs-later), or auto: what the peer asks for, or what "
                "A expects to be faster",
                "auto");
}

std::optional<OnlinePhase> parse_online(const std::string& name) {
  try {
    return requested_phase(name);
  } catch (const UsageError& error) {
    throw UsageError("--online: " + std::string(error.what()));
  }
}

CircuitSpec circuit_spec_from(const CommandLine& line, const std::string& name) {
  CircuitSpec spec;
  spec.name = name;
  if (line.has("sbox"))
    spec.name +=
        (spec.name.find(':') == std::string::npos ? ":sbox=" : ",sbox=") + line.text("sbox");
  spec.owners = line.list("owner");
  if (line.has("to")) spec.receiver = line.text("to");
  if (line.has("bundles")) spec.bundles = line.text("bundles");
  const std::string& order = line.text("bit-order");
  if (order != "lsb" && order != "msb")
    throw UsageError("--bit-order must be lsb or msb, not '" + order + "'");
  spec.msb_first = order == "msb";
  if (line.has("output-base")) {
    const std::string& base = line.text("output-base");
    if (base != "2" && base != "10" && base != "16")
      throw UsageError("--output-base must be 2, 10 or 16, not '" + base + "'");
    spec.output_base = static_cast<circuit::NumberBase>(std::stoi(base));
  }
  for (const std::string& assignment : line.list("type")) {
    const auto [bundle, type] = split_assignment("type", assignment);
    spec.types[bundle] = type;
  }
  spec.name = circuit::spec_for_types(spec.name, spec.types);
  spec.lanes = line.optional_size("lanes");
  spec.blocks = line.optional_size("blocks");
  return spec;
}

void set_column_types(CircuitSpec& spec, std::map<std::string, std::string> types) {
  for (const auto& [name, type] : spec.types) types.erase(name);
  spec.column_types = types;
  types.insert(spec.types.begin(), spec.types.end());
  spec.name = circuit::spec_for_types(spec.name, types);
}

circuit::ValueFormat mirrored(circuit::ValueFormat format) {
  using circuit::ValueFormat;
  if (format == ValueFormat::Bytes) return format;
  return format == ValueFormat::Integer ? ValueFormat::MsbInteger : ValueFormat::Integer;
}

void refuse_receiver(const CircuitSpec& spec) {
  if (spec.receiver && circuit::find_circuit(spec.name))
    throw UsageError("--to is for circuit files in a job of daemons; " + spec.name +
                     " has its own receivers");
}

circuit::CircuitFileOptions file_options_of(const CircuitSpec& spec) {
  circuit::CircuitFileOptions options;
  for (const std::string& owner : spec.owners) {
    const auto [index, party] = split_assignment("owner", owner);
    options.sources[static_cast<std::uint32_t>(std::min<std::uint64_t>(
        parse_size("owner", index), UINT32_MAX))] = input_source("owner", party);
  }
  if (spec.receiver) options.other_receivers = receiver_of(*spec.receiver);
  if (spec.bundles) options.bundles = parse_widths(*spec.bundles);
  return options;
}

NamedCircuit::NamedCircuit(const CircuitSpec& spec)
    : LoadedCircuit(load(spec)), list_of_lanes_(spec.lanes.has_value()), msb_first_(spec.msb_first),
      base_(spec.output_base) {
  // One key for all blocks of a message.
  const auto has = [&](auto property) {
    return std::any_of(info().inputs.begin(), info().inputs.end(), property);
  };
  const bool has_blocks = has([](const circuit::InputBundle& b) { return b.name == "message"; }) &&
                          has([](const circuit::InputBundle& b) { return b.same_in_all_lanes; });
  blocks_ = has_blocks && !spec.lanes;
  if (msb_first_) require_bits(info());
  if (msb_first_ && !spec.types.empty())
    throw UsageError("--type is for numbers whose lowest bit comes first, not --bit-order msb");
  for (const circuit::OutputBundle& output : info().outputs)
    if (base_ == circuit::NumberBase::Decimal && output.bits > circuit::kDecimalBitsMax &&
        output.format == circuit::ValueFormat::Integer)
      throw UsageError("output " + output.name + " has more than " +
                       std::to_string(circuit::kDecimalBitsMax) +
                       " bits: --output-base 10 is for shorter numbers");
  if (spec.blocks && !has_blocks)
    throw UsageError("circuit " + info().name + " has no blocks; use --lanes");
  const auto add_typed = [&](const auto& bundles, std::map<std::string, TypedValues>& typed) {
    for (const auto& bundle : bundles) {
      const auto given = spec.types.find(bundle.name);
      // The file's own types are of numbers whose lowest bit comes first.
      const std::string type = given != spec.types.end() ? given->second
                               : msb_first_              ? std::string()
                                                         : bundle.type;
      if (given != spec.types.end()) require_fit(bundle, type);
      if (given != spec.types.end() || !type.empty())
        typed.try_emplace(bundle.name, type, info().name, bundle.name, bundle.bits,
                          circuit::BundleReading(bundle).written_format(), base_);
    }
  };
  add_typed(info().inputs, typed_inputs_);
  add_typed(info().outputs, typed_outputs_);
  for (const auto& [name, type] : spec.types)
    if (!typed_inputs_.contains(name) && !typed_outputs_.contains(name))
      throw UsageError("--type " + name + ": circuit " + info().name +
                       " has no such input or output");
}

template <class Bundle>
void NamedCircuit::require_fit(const Bundle& bundle, const std::string& type) const {
  if (type == circuit::kRawType) return;
  const std::string why = circuit::BundleReading(bundle).why_unfit(type);
  if (why.empty()) return;
  throw UsageError("--type " + bundle.name + "=" + type + ": " + why +
                   circuit::circuit_for_type(info().name, bundle.name, type));
}
template void NamedCircuit::require_fit(const circuit::InputBundle&, const std::string&) const;
template void NamedCircuit::require_fit(const circuit::OutputBundle&, const std::string&) const;

void NamedCircuit::require_file(const std::string& output, const OutputPaths& files) const {
  const auto typed = typed_outputs_.find(output);
  if (typed != typed_outputs_.end() && typed->second.is_raw() && !files.contains(output))
    throw UsageError("--type " + output + "=raw is for an output in a file: --output " + output +
                     "=@FILE of run and client run");
}

std::size_t NamedCircuit::input_index(const std::string& name) const {
  return index_of(info().inputs, name, "input", info().name);
}

std::size_t NamedCircuit::output_index(const std::string& name) const {
  return index_of(info().outputs, name, "output", info().name);
}

namespace {

// Of a number that was given more often than there are lanes.
std::string list_hint(const circuit::InputBundle& bundle,
                      const std::vector<std::string_view>& pieces, std::size_t wanted) {
  std::string table = table_hint(pieces);
  if (!table.empty() || pieces.size() <= wanted || bundle.bits == 1 ||
      bundle.reading != circuit::Reading::Bits || bundle.format != circuit::ValueFormat::Integer)
    return table;
  return "; a list of values of N bits, in its " + std::to_string(bundle.bits) + ", takes --type " +
         bundle.name + "=uN";
}

std::string negative_hint(const std::string& circuit, const circuit::InputBundle& bundle) {
  const std::string type = "i" + std::to_string(bundle.bits);
  if (bundle.bits > circuit::kIntegerBitsMax || bundle.format != circuit::ValueFormat::Integer)
    return {};
  if (bundle.reading != circuit::Reading::Bits &&
      circuit::spec_for_type(circuit, bundle.name, type).empty())
    return {};
  return "; negative numbers take --type " + bundle.name + "=" + type;
}

}  // namespace

LaneMatrix NamedCircuit::parse(std::size_t input, std::string_view text) const {
  const circuit::InputBundle& bundle = info().inputs[input];
  const std::size_t wanted = bundle.same_in_all_lanes ? 1 : lanes(), digits = bundle.bits / 4;
  const auto typed = typed_inputs_.find(bundle.name);
  if (typed != typed_inputs_.end() && typed->second.is_raw())
    return typed->second.parse(text, wanted);
  if (text.starts_with(system::kByteOrderMark)) text.remove_prefix(system::kByteOrderMark.size());
  std::vector<std::string_view> pieces = split_values(text);
  // Numbers of all bits, as if the circuit had no types; a text may begin like one.
  const bool is_text = typed != typed_inputs_.end() && typed->second.is_text();
  const bool is_whole = !is_text && !bundle.type.empty() && pieces.size() == wanted &&
                        (pieces[0].starts_with("0x") || pieces[0].starts_with("0b"));
  if (typed != typed_inputs_.end() && !is_whole) return typed->second.parse(text, wanted);
  const bool is_one_string = bundle.format == circuit::ValueFormat::Bytes &&
                             (wanted == 1 || blocks_) && text.find(',') == std::string_view::npos;
  SecretText joined;
  if (is_one_string && pieces.size() > 1) {
    for (const std::string_view piece : pieces)
      joined.insert(joined.end(), piece.begin(), piece.end());
    pieces = {view_of(joined)};
  }
  if (blocks_ && bundle.format == circuit::ValueFormat::Bytes && pieces.size() == 1 && wanted > 1 &&
      pieces[0].size() == wanted * digits)
    pieces = split_blocks(pieces[0], digits);
  if (pieces.size() != wanted)
    throw UsageError(
        "input " + bundle.name + ": " + std::to_string(pieces.size()) +
        (pieces.size() == 1 ? " value given, " : " values given, ") + std::to_string(wanted) +
        " expected" +
        (bundle.format == circuit::ValueFormat::Bytes
             ? " of " + std::to_string(digits) + " hex digits each" +
                   (blocks_ && wanted > 1 ? ", or one string of " + std::to_string(wanted * digits)
                                          : "") +
                   "; --type " + bundle.name + "=raw takes the bytes of a file"
             : list_hint(bundle, pieces, wanted)));
  LaneMatrix values(wanted, bundle.bits);
  for (std::size_t lane = 0; lane < wanted; ++lane) {
    try {
      set_lane(values, lane,
               circuit::parse_value(pieces[lane], bundle.bits, bundle.format, msb_first_));
    } catch (const UsageError& error) {
      throw UsageError(
          "input " + bundle.name + ": " + error.what() +
              (pieces[lane].starts_with('-') ? negative_hint(info().name, bundle) : ""),
          error.remedy());
    }
  }
  return values;
}

PrintedOutput NamedCircuit::print(std::size_t output, const LaneMatrix& values) const {
  const circuit::OutputBundle& bundle = info().outputs[output];
  if (const auto typed = typed_outputs_.find(bundle.name); typed != typed_outputs_.end())
    return typed->second.print(values);
  PrintedOutput printed{bundle.name, {}, list_of_lanes_};
  if (!list_of_lanes_) printed.values.emplace_back();
  for (std::size_t lane = 0; lane < values.lanes(); ++lane) {
    std::string text =
        circuit::print_value(to_bits(values[lane]), bundle.format, msb_first_, base_);
    if (list_of_lanes_)
      printed.values.push_back(std::move(text));
    else
      printed.values[0] += text;
  }
  return printed;
}

RunForecast run_forecast(const NamedCircuit& circuit, AndMaterial form, const CommandLine& line,
                         const net::LinkShape& link, std::uint32_t sigma) {
  const auto window = window_from(line);
  return {circuit.lanes(), form, engine::estimate_runs(circuit, form, window, link.rtt),
          engine::estimate_prepared_runs(circuit, form, window, link.rtt, sigma)};
}

namespace {

SecretText read_input(const std::string& path) {
  system::InputFile file(path);
  if (file.is_open_to_others())
    log_line(LogLevel::Warning, path +
                                    " is readable by other users; if its value is secret, restrict "
                                    "it with: chmod 600 " +
                                    path);
  return system::read_secret(std::move(file));
}

}  // namespace

InputTexts read_inputs(const std::vector<std::string>& assignments) {
  InputTexts texts;
  for (const std::string& assignment : assignments) {
    const auto [name, value] = split_assignment("input", assignment);
    SecretText text = value == "-" ? system::read_secret(system::InputFile::standard_input())
                      : value.starts_with("@") ? read_input(value.substr(1))
                                               : secret_text(value);
    if (!texts.emplace(name, std::move(text)).second)
      throw UsageError("--input " + name + " is given twice");
  }
  return texts;
}

Values parse_inputs(const NamedCircuit& circuit, const InputTexts& texts) {
  Values values;
  for (const auto& [name, text] : texts)
    values.set(name, circuit.parse(circuit.input_index(name), view_of(text)));
  return values;
}

}  // namespace tinyot::tools
