// `tinyot report`: measures, and writes a folder with results, figures and a page.
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <iostream>

#include "base/error.h"
#include "system/process.h"
#include "tools/bench/bench.h"
#include "tools/bench/measurements.h"
#include "tools/bench/results_file.h"
#include "tools/cli/failure.h"
#include "tools/cli/log.h"
#include "tools/cli/render/text.h"
#include "tools/cli/signals.h"

namespace tinyot::tools {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// The program that draws, in the build directory or where tinyot is installed.
fs::path drawing_program() {
  fs::path program = fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "share" /
                     "tinyot" / "report";
  if (!fs::is_directory(program))
    throw CommandError("the program that draws the figures is not in " + program.string() +
                       ": install tinyot again");
  return program;
}

// Debian's interpreter, for which the libraries are installed.
std::string python() {
  const char* of_debian = "/usr/bin/python3";
  return ::access(of_debian, X_OK) == 0 ? of_debian : "python3";
}

// Returns the program's exit status.
int run_drawing_program(const Arguments& command) {
  std::cout << std::flush;
  try {
    return system::run_program(command);
  } catch (const Error& error) {
    throw CommandError(std::string(error.what()) +
                       " (tools/setup-report installs it); the results are kept: continue with "
                       "--resume");
  }
}

// Performs the measurements that the file lacks.
void measure(const std::vector<Measurement>& list, ResultsFile& results, bool quiet) {
  double left_s = 0, expected_s = 0;
  for (const Measurement& each : list)
    if (!results.has(command_of(each))) left_s += each.seconds;
  const auto begin = Clock::now();
  std::size_t number = 0;
  for (const Measurement& each : list) {
    ++number;
    const std::string command = command_of(each);
    if (results.has(command)) continue;
    if (!quiet) {
      // The machine's speed, as soon as something has been measured.
      const double spent_s = std::chrono::duration<double>(Clock::now() - begin).count(),
                   speed = expected_s > 0 ? spent_s / expected_s : 1;
      log_line(LogLevel::Info, "[" + std::to_string(number) + "/" + std::to_string(list.size()) +
                                   ", " + seconds_text(left_s * speed) + " left] " + command);
    }
    std::vector<Json> rows;
    try {
      bench(each.bench, [&](const Json& row) {
        rows.push_back(row);
        rows.back()["experiment"] = each.experiment;
        rows.back()["kind"] = each.bench[0] == "fig17" ? "blocks" : each.bench[0];
      });
    } catch (const std::exception&) {
      const Failure failure = current_failure();
      throw CommandError(failure.message + " (" + command +
                             "); the finished measurements are kept: continue with --resume",
                         failure.status, failure.remedy);
    }
    results.append(command, std::move(rows));
    left_s -= each.seconds;
    expected_s += each.seconds;
  }
}

}  // namespace

int report_command(const Arguments& arguments) {
  CommandLine line("report", "--output DIR [--quick | --full] [options]",
                   "tinyot report --quick --output report");
  line.options()
      .value("output", "directory of the report: results.jsonl, results.csv, report.html, figures/")
      .flag("quick", "a few small measurements, about two minutes")
      .flag("full", "larger sizes, more links, three runs each, about an hour; the default")
      .flag("resume", "continue a report that was interrupted; finished measurements are kept")
      .flag("allow-weak", "measure buckets that miss sigma too; every table and figure marks them")
      .value("compare", "directory of an older report: shows what has changed beyond noise");
  line.require("output");
  if (!line.parse(arguments)) return 0;
  if (line.has("quick") && line.has("full"))
    throw UsageError("--quick and --full exclude each other");
  const fs::path output = line.text("output"), file = output / "results.jsonl";
  std::error_code error;
  if (!line.has("resume") && fs::exists(file, error))
    throw UsageError(output.string() +
                     " has a report: continue it with --resume, or use another "
                     "--output");
  // -B: nothing is written beside the installed files.
  Arguments draw = {python(), "-B", drawing_program().string(), output.string()};
  if (line.has("compare")) {
    draw.insert(draw.end(), {"--compare", line.text("compare")});
    if (!fs::exists(fs::path(line.text("compare")) / "results.jsonl", error))
      throw UsageError("--compare " + line.text("compare") + " has no results.jsonl");
  }
  fs::create_directories(output, error);
  if (error) throw CommandError("cannot make " + output.string() + ": " + error.message());
  {
    const DeferredSignals signals;
    ResultsFile results(file);
    measure(measurements(line.has("quick") ? Extent::Quick : Extent::Full, line.has("allow-weak")),
            results, line.common().quiet);
  }
  if (const int status = run_drawing_program(draw); status != 0)
    throw CommandError(
        "the figures could not be drawn; the results are kept: continue with "
        "--resume");
  print_report(line.common().format,
               {{"command", "report"},
                {"output", output.string()},
                {"results", file.string()},
                {"page", (output / "report.html").string()}},
               "report: " + (output / "report.html").string() + "\n");
  return 0;
}

}  // namespace tinyot::tools
