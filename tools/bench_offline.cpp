// `tinyot bench offline`: preprocessing over bucket size, sigma, unit and columns, one row each.
#include <iostream>

#include "base/error.h"
#include "tools/bench.h"
#include "tools/local.h"

namespace tinyot {
namespace {

struct Point {
  ParameterRequest parameters;
  std::uint64_t ands;
};

double sum_over_phases(const Json& report, const char* field) {
  double sum = 0;
  for (const Json& phase : report["phases"]) sum += phase[field].get<double>();
  return sum;
}

// One job into stores that are thrown away; its report.
Json measure(const Point& point, const TcpTimeouts& timeouts) {
  const TemporaryDirectory dir;
  PreprocessJob job;
  job.parameters = point.parameters;
  job.ands = point.ands;
  job.quiet = true;
  const JobResult result = preprocess_locally(job, dir.path(), timeouts);
  if (result.exit_status != 0) throw Error(static_cast<ExitStatus>(result.exit_status), "a measured job failed");
  return result.report;
}

Json row_of(const Point& point, const std::vector<Json>& runs) {
  std::vector<double> rates, cpu_a, cpu_b;
  for (const Json& run : runs) {
    rates.push_back(std::min(run["A"]["ands_per_s"].get<double>(), run["B"]["ands_per_s"].get<double>()));
    cpu_a.push_back(sum_over_phases(run["A"], "cpu_s"));
    cpu_b.push_back(sum_over_phases(run["B"], "cpu_s"));
  }
  const Json& a = runs.front()["A"];
  const double ands = static_cast<double>(point.ands), rate = median(rates);
  const double traffic = sum_over_phases(a, "bytes_sent") + sum_over_phases(a, "bytes_received");
  Json row = {{"profile", a["profile"]},
              {"columns", a["columns"]},
              {"unit", a["unit"]},
              {"ands", point.ands},
              {"bucket", a["bucket"]},
              {"sigma", a["sigma"]},
              {"sigma_paper_bound", a["sigma_paper_bound"]},
              {"sigma_exact", a["sigma_exact"]},
              {"ands_per_s", rate},
              {"gates_per_s", rate / static_cast<double>(kAndsOfABlock) * kPaperGatesOfABlock},
              {"bytes_per_and", traffic / ands},
              {"peak_rss_bytes", std::max(a["peak_rss_bytes"].get<std::uint64_t>(), runs.front()["B"]["peak_rss_bytes"].get<std::uint64_t>())},
              {"cpu_s", median(cpu_a)},
              {"cpu_us_per_and", 1e6 * (median(cpu_a) + median(cpu_b)) / 2 / ands}};
  row["repeats"] = runs.size();
  row["rates"] = rates;
  row["phases"] = Json::object();
  for (const Json& phase : a["phases"]) row["phases"][phase["name"].get<std::string>()] = phase["wall_s"];
  return row;
}

}  // namespace

int bench_offline(const Arguments& arguments) {
  CommandLine line("tinyot bench offline [options]", "tinyot bench offline --unit 2^14..2^20 --columns theorem,experiment --repeat 3 --format csv");
  line.options().add_options()("bucket", po::value<std::string>(), "bucket sizes; default: the smallest that reaches sigma")(
      "sigma", po::value<std::string>()->default_value("40"), "statistical security")(
      "unit", po::value<std::string>()->default_value("2^18"), "ANDs that are permuted together: a list, or 2^14..2^20")(
      "columns", po::value<std::string>()->default_value("theorem"), "theorem, experiment or both")(
      "ands", po::value<std::string>(), "ANDs of each job; default: one unit")("repeat", po::value<std::string>()->default_value("1"), "runs of each row; the median is shown");
  add_timeout_options(line.options());
  if (!line.parse(arguments)) return 0;
  Table table(Table::style_from(line.get<std::string>("format")));
  const TcpTimeouts timeouts = timeouts_from(line);
  const std::uint64_t repeat = line.size("repeat");
  if (repeat < 1 || repeat > 100) throw UsageError("--repeat goes from 1 to 100");
  std::vector<std::optional<std::uint64_t>> buckets = {std::nullopt};
  if (line.has("bucket")) {
    const auto sizes = parse_sizes("bucket", line.get<std::string>("bucket"));
    buckets.assign(sizes.begin(), sizes.end());
  }
  for (const std::string& columns : parse_names(line.get<std::string>("columns"))) {
    if (columns != "theorem" && columns != "experiment") throw UsageError("--columns is theorem, experiment or both, not '" + columns + "'");
    for (const std::uint64_t unit : parse_sizes("unit", line.get<std::string>("unit")))
      for (const std::uint64_t sigma : parse_sizes("sigma", line.get<std::string>("sigma")))
        for (const auto& bucket : buckets) {
          Point point{{}, line.optional_size("ands").value_or(unit)};
          point.parameters.columns = columns == "theorem" ? Columns::Theorem : Columns::Experiment;
          point.parameters.sigma = static_cast<std::uint32_t>(std::min<std::uint64_t>(sigma, UINT32_MAX));
          point.parameters.unit = unit;
          if (bucket) point.parameters.bucket = static_cast<std::uint32_t>(std::min<std::uint64_t>(*bucket, UINT32_MAX));
          point.parameters.weak_allowed = bucket.has_value();  // the row says what it reaches
          std::vector<Json> runs;
          for (std::uint64_t i = 0; i < repeat; ++i) runs.push_back(measure(point, timeouts));
          table.add(row_of(point, runs));
        }
  }
  return 0;
}

}  // namespace tinyot
