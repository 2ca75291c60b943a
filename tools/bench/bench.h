// `tinyot bench`: measures the engine on this machine, both parties as two processes over loopback.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "crypto/library_aes.h"
#include "tinyot/parameters.h"
#include "tinyot/preprocess.h"
#include "tools/bench/other_load.h"
#include "tools/bench/pair.h"
#include "tools/cli/circuit_spec.h"
#include "tools/cli/log.h"
#include "tools/cli/render/report.h"

namespace tinyot::tools {

// Takes the rows of a bench, one after the other.
using RowSink = std::function<void(const Json& row)>;

// The bench that the first argument names. Rows go to `sink`, if there is one, instead of stdout.
int bench(const Arguments& arguments, const RowSink& sink);
int offline_rows(const Arguments& arguments, const RowSink& sink);
int online_rows(const Arguments& arguments, const RowSink& sink);
int ot_rows(const Arguments& arguments, const RowSink& sink);
int fig17_rows(const Arguments& arguments, const RowSink& sink);

// Prints the rows of a table as they are added: as JSON lines, as CSV (RFC 4180, with line feeds),
// or in columns. All rows have the same scalar fields. CSV has the fields of the object `machine`
// as machine.cpu and so on, and no other nested ones. Text begins with the origin of the rows, and
// has the columns that are named; or all, if none is.
class Table {
 public:
  enum class Style { Columns, JsonLines, Csv };
  // text, json or csv. Fails: UsageError.
  static Style style_from(const std::string& format);

  explicit Table(Style style, std::vector<std::string> columns = {})
      : style_(style), columns_(std::move(columns)) {}
  void add(const Json& row);

 private:
  Style style_;
  std::vector<std::string> columns_;
  std::map<std::string, int> widths_;
  bool first_ = true;
};

// The rows of one bench, each with its origin: version, compiler, machine, load, the share of other
// programs, date. Printed, a row that others have disturbed has a warning.
class Rows {
 public:
  // --format says how they are printed if there is no sink; in text with these columns, at most 100
  // characters, after those of the options that are given, or with --all-columns. Fails:
  // UsageError.
  Rows(const CommandLine& line, RowSink sink, const std::vector<std::string>& columns);
  static void add_options(Options& options);
  // What is measured from now on is one group, whose rows share what other programs took.
  void begin_group();
  void add(Json row);

 private:
  Table table_;
  RowSink sink_;
  OtherLoad others_;
  bool is_group_measured_ = false;
  std::optional<double> others_share_;  // of the group
};

// The security parameters of the rows: each combination of the values given for --profile,
// --material, --unit, --sigma, --bucket, --softspoken-k and the columns.
struct ParameterLists {
  std::string profile = "nnob12";
};
void add_parameter_lists(Options& options, const ParameterLists& lists);
// All combinations. Fails: UsageError.
std::vector<ParameterRequest> combined_parameters(const CommandLine& line,
                                                  const ParameterLists& lists);
// Those that reach sigma with the unit given, or the profile's usual one. Fails: UsageError.
std::vector<ParameterRequest> parameters_listed(const CommandLine& line,
                                                const ParameterLists& lists);
// Of several points, those that miss sigma are left out, with a warning each; `check` throws for
// them. Fails: UsageError if all are.
template <class Point, class Check>
std::vector<Point> reaching_sigma(const std::vector<Point>& points, const Check& check) {
  std::vector<Point> reaching;
  std::vector<std::string> missing;
  for (const Point& point : points) try {
      check(point);
      reaching.push_back(point);
    } catch (const UsageError& error) {
      if (points.size() == 1 || error.remedy() != Remedy::AllowWeakParameters) throw;
      missing.emplace_back(error.what());
    }
  if (reaching.empty()) throw UsageError("no row reaches its sigma: " + missing.front());
  for (const std::string& each : missing)
    log_line(LogLevel::Warning, "a row is left out: " + each + "; or --allow-weak");
  return reaching;
}
// As options of `tinyot preprocess` and of `tinyot run --live`.
Arguments arguments_of(const ParameterRequest& parameters);

// --tls, and --rtt and --rate or --link: lists. Each value is combined with each.
void add_link_options(Options& options);
std::vector<LocalLink> links_from(const CommandLine& line);
// Fields of a row: tls, link, rtt_ms, rate_mbit.
Json fields_of(const LocalLink& link);

// --repeat: 1 to 100. Fails: UsageError.
std::uint64_t repeat_from(const CommandLine& line);

// Lists such as 3,4,5 and ranges such as 2^14..2^20 (each twice the one before), also mixed. Fails:
// UsageError naming the option.
std::vector<std::uint64_t> parse_sizes(const std::string& option, const std::string& text);

double median(std::vector<double> values);
// Adds `name`, the median, and name_min and name_max.
void add_spread(Json& row, const std::string& name, const std::vector<double>& values);

// The joint report of a measured job. Fails: CommandError if it failed.
Json require_success(const PairEnded& ended);
// Of a joint report of both parties, the one that took longer.
const Json& slower_of(const Json& both);
// Wall time of a phase, 0 if there is none of that name.
double wall_of_phase(const Json& report, std::string_view name);

// Of both parties, by the commands for that, with stores in DIR/A and DIR/B.
PairCommands preprocess_commands(const PreprocessRequest& job, const std::filesystem::path& dir,
                                 const CommonOptions& common = {Format::Json, true});
struct MeasuredRun {
  CircuitSpec spec = {};
  std::optional<std::uint64_t> window = {};
  std::optional<ParameterRequest> live = {};
  std::optional<OnlinePhase> phase = {};
  bool are_inputs_later = false;
};
PairCommands run_commands(const MeasuredRun& run, const NamedCircuit& circuit,
                          const InputTexts& inputs, const std::filesystem::path& dir,
                          const CommonOptions& common = {Format::Json, true});

// Compares the outputs in the joint report of both parties with those of the plain evaluator.
// Fails: Error if an output differs in any lane, at a party that learns it.
void check_outputs(const NamedCircuit& circuit, const InputTexts& texts, const Json& report);

// Fails: CommandError if the ciphertext of a demo, in hex, differs from that of AES by Crypto++.
void check_ciphertext(const std::string& ciphertext, const crypto::AesBytes& key,
                      const std::vector<crypto::AesBytes>& message);

// Gates of one AES block as the paper counts them, and ANDs of one block here.
inline constexpr double kPaperGatesOfABlock = 34520;
inline constexpr std::uint64_t kAndsOfABlock = 6400;
inline constexpr double kPaperGatesOfAnAnd = kPaperGatesOfABlock / kAndsOfABlock;

}  // namespace tinyot::tools
