#include "tools/bench.h"

#include <stdlib.h>

#include <algorithm>
#include <iomanip>
#include <iostream>

#include "base/error.h"
#include "tools/failure.h"
#include "tools/preprocess.h"

namespace tinyot::tools {
namespace {

// A field in the syntax of RFC 4180.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
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
  std::string names, values;
  std::ostringstream headings, cells;
  for (const auto& [name, value] : row.items()) {
    if (value.is_structured()) continue;
    const std::string text = value.is_string()         ? value.get<std::string>()
                             : value.is_number_float() ? decimals(value, value < 10 ? 3 : 1)
                                                       : value.dump();
    names += (names.empty() ? "" : ",") + csv_field(name);
    values += (values.empty() ? "" : ",") + csv_field(text);
    const int width = static_cast<int>(std::max(name.size(), std::size_t{8}) + 2);
    headings << std::setw(width) << name;
    cells << std::setw(width) << text;
  }
  if (first_) std::cout << (style_ == Style::Csv ? names : headings.str()) << "\n";
  std::cout << (style_ == Style::Csv ? values : cells.str()) << std::endl;
  first_ = false;
}

std::vector<std::string> parse_names(const std::string& text) {
  std::vector<std::string> names;
  std::istringstream stream(text);
  for (std::string name; std::getline(stream, name, ',');) names.push_back(name);
  return names;
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

Json succeed(const JobResult& result) {
  if (result.exit_status != 0)
    throw CommandError("a measured job failed", static_cast<ExitStatus>(result.exit_status));
  return result.report;
}

int bench_command(const Arguments& arguments) {
  const std::string verb = arguments.empty() ? "" : arguments[0];
  const Arguments rest(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
  if (verb == "offline") return bench_offline(rest);
  if (verb == "online") return bench_online(rest);
  if (verb == "fig17") return bench_fig17(rest);
  if (verb == "ot") return bench_ot(rest);
  if (verb != "--help")
    throw UsageError("tinyot bench needs offline, online, fig17 or ot; see tinyot bench --help");
  std::cout << "Usage: tinyot bench offline | online | fig17 | ot; each has its own "
               "--help\n\nExample:\n  tinyot bench offline --unit 2^18 --repeat 3\n";
  return 0;
}

}  // namespace tinyot::tools
