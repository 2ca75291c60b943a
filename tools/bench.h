// `tinyot bench`: measures the engine on this machine, both parties as two processes over loopback.
#pragma once

#include <functional>
#include <vector>

#include "engine/temporary_directory.h"
#include "tools/circuit_spec.h"
#include "tools/command_line.h"
#include "tools/report.h"

namespace tinyot::tools {

int bench_command(const Arguments& arguments);
int bench_offline(const Arguments& arguments);
int bench_online(const Arguments& arguments);
int bench_fig17(const Arguments& arguments);
int bench_ot(const Arguments& arguments);

// Prints the rows of a table as they are added: as JSON lines, as CSV (RFC 4180, with line feeds),
// or in columns. All rows have the same scalar fields; in CSV and text nested fields (the per-phase
// split) are left out.
class Table {
 public:
  enum class Style { Columns, JsonLines, Csv };
  // text, json or csv. Fails: UsageError.
  static Style style_from(const std::string& format);

  explicit Table(Style style) : style_(style) {}
  void add(const Json& row);

 private:
  Style style_;
  bool first_ = true;
};

// Lists such as 3,4,5 and ranges such as 2^14..2^20 (each twice the one before), also mixed. Fails:
// UsageError naming the option.
std::vector<std::uint64_t> parse_sizes(const std::string& option, const std::string& text);
std::vector<std::string> parse_names(const std::string& text);

double median(std::vector<double> values);

// The report of a measured job. Fails: Error if the job failed.
struct JobResult;
Json succeed(const JobResult& result);

// Compares the outputs in the joint report of both parties with those of the plain evaluator.
// Fails: Error if an output differs in any lane, at a party that learns it.
void check_outputs(const NamedCircuit& circuit, const InputTexts& texts, const Json& report);

// Gates of one AES block as the paper counts them, and ANDs of one block here.
inline constexpr double kPaperGatesOfABlock = 34520;
inline constexpr std::uint64_t kAndsOfABlock = 6400;

}  // namespace tinyot::tools
