#include "tools/bench/bench.h"

#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "base/error.h"
#include "engine/two_party_harness.h"
#include "system/clock.h"
#include "tools/bench/pair_report.h"
#include "tools/cli/failure.h"
#include "tools/cli/log.h"
#include "tools/cli/preprocess.h"
#include "tools/cli/render/circuit.h"
#include "tools/cli/render/text.h"
#include "tools/cli/signals.h"

namespace tinyot::tools {
namespace {

// A field in the syntax of RFC 4180.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

// Of a row's fields, those that say where it comes from.
bool is_origin(const std::string& name) {
  return name == "version" || name == "compiler" || name == "load" || name == "others_share" ||
         name == "date";
}

std::string compiler_text() {
#ifdef __clang__
  return "Clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

// Options and the columns that they decide.
constexpr std::pair<const char*, const char*> kDecided[] = {{"material", "material"},
                                                            {"labit-columns", "columns"},
                                                            {"softspoken-k", "softspoken_k"},
                                                            {"abits", "abits"},
                                                            {"silent-set", "silent_set"},
                                                            {"threads", "threads"},
                                                            {"store", "stored"},
                                                            {"window", "window"},
                                                            {"live", "live"},
                                                            {"online", "online_asked"},
                                                            {"inputs-later", "inputs_later"},
                                                            {"tls", "tls"},
                                                            {"link", "link"},
                                                            {"rtt", "rtt_ms"},
                                                            {"rate", "rate_mbit"}};

int printed(int (*rows)(const Arguments&, const RowSink&), const Arguments& arguments) {
  const DeferredSignals signals;
  return rows(arguments, {});
}

// One progress bar is enough.
PairCommand command_of(const std::string& subcommand, Party party, const CommonOptions& common) {
  PairCommand command{{subcommand, "--format", common.format == Format::Json ? "json" : "text"}};
  if (common.quiet || party == Party::B) command.add({"--quiet"});
  return command;
}

}  // namespace

Table::Style Table::style_from(const std::string& format) {
  if (format == "text") return Style::Columns;
  if (format == "json") return Style::JsonLines;
  if (format == "csv") return Style::Csv;
  throw UsageError("--format must be text, json or csv here, not '" + format + "'");
}

void Table::add(const Json& row) {
  if (style_ == Style::JsonLines) {
    std::cout << row.dump() << std::endl;
    return;
  }
  const bool is_csv = style_ == Style::Csv;
  std::string names, values;
  std::ostringstream headings, cells;
  const auto add_cell = [&](const std::string& name, const Json& value) {
    const std::string text = value.is_string()         ? value.get<std::string>()
                             : value.is_number_float() ? decimals(value, value < 10 ? 3 : 1)
                                                       : value.dump();
    names += (names.empty() ? "" : ",") + csv_field(name);
    values += (values.empty() ? "" : ",") + csv_field(text);
    // As wide as the first row needs.
    const int width =
        widths_.try_emplace(name, std::max({name.size(), text.size(), std::size_t{7}}))
            .first->second +
        2;
    headings << std::setw(width) << name;
    cells << std::setw(width) << text;
  };
  if (!is_csv && !columns_.empty()) {
    for (const std::string& name : columns_)
      if (row.contains(name)) add_cell(name, row[name]);
  } else
    for (const auto& [name, value] : row.items()) {
      if (is_csv && name == "machine")
        for (const auto& [field, of_machine] : value.items())
          add_cell("machine." + field, of_machine);
      else if (!value.is_structured() && (is_csv || !is_origin(name)))
        add_cell(name, value);
    }
  if (first_ && !is_csv && row.contains("version"))
    std::cout << "tinyot " << row["version"].get<std::string>() << ", "
              << row["compiler"].get<std::string>() << ", "
              << row["machine"]["cpu"].get<std::string>() << ", " << row["machine"]["cores"].dump()
              << " cores, load " << decimals(row["load"], 1) << ", "
              << row["date"].get<std::string>() << "\n";
  if (first_) std::cout << (is_csv ? names : headings.str()) << "\n";
  std::cout << (is_csv ? values : cells.str()) << std::endl;
  first_ = false;
}

Rows::Rows(const CommandLine& line, RowSink sink, const std::vector<std::string>& columns)
    : table_(Table::style_from(line.text("format"))), sink_(std::move(sink)) {
  if (line.has("all-columns")) return;
  std::vector<std::string> shown;
  for (const auto& [option, column] : kDecided)
    if (line.is_explicit(option)) shown.emplace_back(column);
  shown.insert(shown.end(), columns.begin(), columns.end());
  table_ = Table(Table::style_from(line.text("format")), std::move(shown));
}

void Rows::add_options(Options& options) {
  options.flag("all-columns", "text with all fields of a row, as CSV and JSON have them");
}

void Rows::begin_group() {
  (void)others_.share();
  is_group_measured_ = false;
}

void Rows::add(Json row) {
  row["version"] = version_text();
  row["compiler"] = compiler_text();
  row["machine"] = machine_json();
  double load = 0;
  ::getloadavg(&load, 1);
  row["load"] = std::round(100 * load) / 100;
  const bool is_first = !std::exchange(is_group_measured_, true);
  if (is_first) others_share_ = others_.share();
  if (others_share_) row["others_share"] = std::round(1000 * *others_share_) / 1000;
  row["date"] = system::utc_text();
  constexpr double kOthersMost = 0.1;
  if (is_first && others_share_.value_or(0) > kOthersMost && !sink_)
    log_line(LogLevel::Warning,
             "other programs took " + std::to_string(std::lround(100 * *others_share_)) +
                 " % of the machine while the next rows were measured; do not cite them");
  if (sink_)
    sink_(row);
  else
    table_.add(row);
}

std::vector<std::uint64_t> parse_sizes(const std::string& option, const std::string& text) {
  std::vector<std::uint64_t> sizes;
  for (const std::string& piece : parse_names(text)) {
    const auto dots = piece.find("..");
    if (dots == std::string::npos) {
      sizes.push_back(parse_size(option, piece));
      continue;
    }
    const std::uint64_t first = parse_size(option, piece.substr(0, dots)),
                        last = parse_size(option, piece.substr(dots + 2));
    if (first == 0 || first > last)
      throw UsageError("--" + option + " '" + piece + "' is not a range: write 2^14..2^20");
    for (std::uint64_t size = first; size <= last; size *= 2) sizes.push_back(size);
  }
  if (sizes.empty()) throw UsageError("--" + option + " is empty");
  return sizes;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

void add_spread(Json& row, const std::string& name, const std::vector<double>& values) {
  row[name] = median(values);
  row[name + "_min"] = std::ranges::min(values);
  row[name + "_max"] = std::ranges::max(values);
}

std::uint64_t repeat_from(const CommandLine& line) {
  const std::uint64_t repeat = line.size("repeat");
  if (repeat < 1 || repeat > 100) throw UsageError("--repeat is out of range: 1 to 100");
  return repeat;
}

Json require_success(const PairEnded& ended) {
  if (const int status = ended.cause().status; status != 0)
    throw CommandError("a measured job failed", static_cast<ExitStatus>(status));
  return joined(ended);
}

const Json& slower_of(const Json& both) {
  return both["A"]["wall_s"] > both["B"]["wall_s"] ? both["A"] : both["B"];
}

double wall_of_phase(const Json& report, std::string_view name) {
  for (const Json& phase : report["phases"])
    if (phase["name"] == name) return phase["wall_s"];
  return 0;
}

PairCommands preprocess_commands(const PreprocessRequest& job, const std::filesystem::path& dir,
                                 const CommonOptions& common) {
  std::filesystem::create_directories(dir);
  const auto command = [&](Party party) {
    PairCommand mine = command_of("preprocess", party, common);
    mine.add({"--store", engine::store_in(dir, party).string()});
    mine.add({"--ands", std::to_string(job.ands)});
    if (job.inputs) mine.add({"--inputs", std::to_string(*job.inputs)});
    mine.add({"--threads", std::to_string(job.threads)});
    if (!job.is_stored) mine.add({"--discard"});
    mine.add(arguments_of(job.parameters));
    return mine;
  };
  return {command(Party::A), command(Party::B)};
}

PairCommands run_commands(const MeasuredRun& run, const NamedCircuit& circuit,
                          const InputTexts& inputs, const std::filesystem::path& dir,
                          const CommonOptions& common) {
  const auto command = [&](Party party) {
    PairCommand mine = command_of("run", party, common);
    mine.add({"--circuit", run.spec.name});
    if (run.spec.lanes) mine.add({"--lanes", std::to_string(*run.spec.lanes)});
    if (run.spec.blocks) mine.add({"--blocks", std::to_string(*run.spec.blocks)});
    if (run.window) mine.add({"--window", std::to_string(*run.window)});
    if (run.phase) mine.add({"--online", std::string(name_of(*run.phase))});
    if (run.are_inputs_later) mine.add({"--inputs-later"});
    if (run.live) {
      mine.add({"--live"});
      mine.add(arguments_of(*run.live));
    } else {
      mine.add({"--store", engine::store_in(dir, party).string()});
    }
    for (const auto& [name, text] : inputs)
      if (gives(circuit.info().inputs[circuit.input_index(name)].source, party))
        mine.add_input(name, view_of(text));
    return mine;
  };
  return {command(Party::A), command(Party::B)};
}

void add_link_options(Options& options) {
  options.value("tls", "channels over TLS: no, yes, a list", "no");
  add_shape_options(options, "a simulated link between the parties", "; a list");
  add_timeout_options(options);
}

std::vector<LocalLink> links_from(const CommandLine& line) {
  std::vector<LocalLink> links;
  const auto shapes = shapes_from(line);
  for (const std::string& name : parse_names(line.text("tls")))
    for (const auto& shape : shapes)
      links.push_back({timeouts_from(line),
                       parse_choice("tls", name, {Channels::Plain, Channels::Tls}), shape});
  return links;
}

Json fields_of(const LocalLink& link) {
  Json fields = {{"tls", name_of(link.channels)}};
  fields.update(fields_of(link.shape));
  return fields;
}

int bench(const Arguments& arguments, const RowSink& sink) {
  const std::string verb = arguments.empty() ? "" : arguments[0];
  const Arguments rest(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
  if (verb == "offline") return offline_rows(rest, sink);
  if (verb == "online") return online_rows(rest, sink);
  if (verb == "fig17") return fig17_rows(rest, sink);
  if (verb == "ot") return ot_rows(rest, sink);
  throw UsageError("there is no bench '" + verb + "'");
}

int bench_offline(const Arguments& arguments) { return printed(offline_rows, arguments); }
int bench_online(const Arguments& arguments) { return printed(online_rows, arguments); }
int bench_ot(const Arguments& arguments) { return printed(ot_rows, arguments); }
int bench_fig17(const Arguments& arguments) { return printed(fig17_rows, arguments); }

}  // namespace tinyot::tools
