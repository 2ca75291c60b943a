// `tinyot bench offline`: preprocessing for combinations of parameters, one row each.
#include <algorithm>
#include <cmath>
#include <iostream>

#include "base/error.h"
#include "engine/memory.h"
#include "engine/plan.h"
#include "system/temporary_directory.h"
#include "tools/bench/bench.h"

namespace tinyot::tools {
namespace {

double sum_over_phases(const Json& report, const char* field) {
  double sum = 0;
  for (const Json& phase : report["phases"]) sum += phase[field].get<double>();
  return sum;
}

// Uses the memory that the job's two parties will need once in advance, as on a machine that has
// been running for a while.
void warm_up(const PreprocessRequest& job) {
  const Estimate estimate = engine::estimate_of(engine::resolve(job));
  engine::use_memory_once(std::min(2 * (estimate.memory_bytes + estimate.disk_bytes),
                                   engine::available_memory_bytes() / 2));
}

// Runs one job into temporary stores; returns its report.
Json measure(const PreprocessRequest& job, const LocalLink& link) {
  const system::TemporaryDirectory dir;
  return require_success(run_pair(preprocess_commands(job, dir.path()), link));
}

Json row_of(const PreprocessRequest& job, const LocalLink& link, const std::vector<Json>& runs) {
  std::vector<double> rates, walls, set_up, after_set_up, cpu_a, cpu_b;
  for (const Json& run : runs) {
    const Json& slower = slower_of(run);
    rates.push_back(slower["ands_per_s"]);
    walls.push_back(slower["wall_s"]);
    set_up.push_back(wall_of_phase(slower, "base OTs") + wall_of_phase(slower, "silent start"));
    after_set_up.push_back(1e6 * (slower["wall_s"].get<double>() - set_up.back()) /
                           static_cast<double>(job.ands));
    cpu_a.push_back(sum_over_phases(run["A"], "cpu_s"));
    cpu_b.push_back(sum_over_phases(run["B"], "cpu_s"));
  }
  const auto of_median = std::ranges::min_element(runs, {}, [&](const Json& run) {
    return std::abs(slower_of(run)["ands_per_s"].get<double>() - median(rates));
  });
  const Json& a = (*of_median)["A"];
  const double ands = static_cast<double>(job.ands), rate = median(rates);
  const double traffic = sum_over_phases(a, "bytes_sent") + sum_over_phases(a, "bytes_received");
  Json row = {
      {"profile", a["profile"]},
      {"material", a["material"]},
      {"columns", a.value("columns", "-")},
      {"softspoken_k", a.value("softspoken_k", 0)},
      {"abits", a.value("abits", "-")},
      {"silent_set", a.value("silent_set", "-")},
      {"unit", a["unit"]},
      {"ands", job.ands},
      {"threads", a["threads"]},
      {"bucket", a["bucket"]},
      {"sigma", a["sigma"]},
      {"sigma_paper_bound", a["sigma_paper_bound"]},
      {"sigma_exact", a["sigma_exact"]},
      {"ands_per_s", rate},
      {"set_up_s", median(set_up)},
      {"us_per_and_then", median(after_set_up)},
      {"gates_per_s", rate * kPaperGatesOfAnAnd},
      {"bytes_per_and", traffic / ands},
      {"peak_rss_bytes", std::max(a["peak_rss_bytes"].get<std::uint64_t>(),
                                  (*of_median)["B"]["peak_rss_bytes"].get<std::uint64_t>())},
      {"cpu_s", median(cpu_a)},
      {"cpu_us_per_and", 1e6 * (median(cpu_a) + median(cpu_b)) / 2 / ands}};
  add_spread(row, "ands_per_s", rates);
  std::vector<double> gates_then;
  gates_then.reserve(after_set_up.size());
  for (const double us : after_set_up) gates_then.push_back(1e6 / us * kPaperGatesOfAnAnd);
  add_spread(row, "gates_per_s_then", gates_then);
  row["wall_s"] = median(walls);
  row["rounds"] = sum_over_phases(a, "rounds");
  row["weak"] = a["sigma_paper_bound"] < a["sigma"];
  row["units"] = a["units"];
  row["units_in_flight"] = a["units_in_flight"];
  row["latency_ms"] = a["latency_ms"];
  row["round_trips_per_unit"] = engine::estimate_of(engine::resolve(job)).round_trips_of_unit;
  row["stored"] = job.is_stored ? "yes" : "no";
  row.update(fields_of(link));
  row["repeats"] = runs.size();
  row["rates"] = rates;
  row["phases"] = Json::object();
  for (const Json& phase : a["phases"])
    row["phases"][phase["name"].get<std::string>()] = phase["wall_s"];
  return row;
}

}  // namespace

int offline_rows(const Arguments& arguments, const RowSink& sink) {
  CommandLine line(
      "bench offline", "[options]",
      "tinyot bench offline --profile nnob12,fast --unit 2^14..2^20 --repeat 3 --format csv");
  const ParameterLists lists;
  add_parameter_lists(line.options(), lists);
  line.options()
      .value("ands", "ANDs of each job, a list; default: one unit")
      .value("threads", "workers of each party, a list", "1")
      .value("repeat", "runs of each row; the median is shown", "1")
      .value("store", "yes, or no: material is made and discarded; a list", "yes");
  Rows::add_options(line.options());
  add_link_options(line.options());
  if (!line.parse(arguments)) return 0;
  Rows rows(line, sink,
            {"profile", "unit", "bucket", "sigma", "weak", "ands", "ands_per_s", "bytes_per_and",
             "cpu_us_per_and"});
  const std::vector<LocalLink> links = links_from(line);
  const std::uint64_t repeat = repeat_from(line);
  std::vector<PreprocessRequest> points;
  for (const ParameterRequest& parameters : combined_parameters(line, lists)) {
    PreprocessRequest point;
    point.parameters = parameters;
    const std::uint64_t unit =
        parameters.unit.value_or(offline::entry_of(parameters.profile).usual_unit);
    for (const std::uint64_t ands :
         line.has("ands") ? parse_sizes("ands", line.text("ands")) : std::vector{unit}) {
      point.ands = ands;
      for (const std::uint64_t threads : parse_sizes("threads", line.text("threads"))) {
        point.threads = threads;
        for (const std::string& store : parse_names(line.text("store"))) {
          if (store != "yes" && store != "no")
            throw UsageError("--store must be yes or no, not '" + store + "'");
          point.is_stored = store == "yes";
          points.push_back(point);
        }
      }
    }
  }

  // A job of few ANDs has smaller units, which need larger buckets.
  const auto check = [](const PreprocessRequest& point) { engine::resolve(point); };
  for (const PreprocessRequest& point : reaching_sigma(points, check)) {
    warm_up(point);
    rows.begin_group();
    // The links alternate, so that other load on the machine affects them alike.
    std::vector<std::vector<Json>> runs(links.size());
    for (std::uint64_t i = 0; i < repeat; ++i)
      for (std::size_t link = 0; link < links.size(); ++link)
        runs[link].push_back(measure(point, links[link]));
    for (std::size_t link = 0; link < links.size(); ++link)
      rows.add(row_of(point, links[link], runs[link]));
  }
  return 0;
}

}  // namespace tinyot::tools
