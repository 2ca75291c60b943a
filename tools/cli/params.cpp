#include "tools/cli/params.h"

#include <optional>

#include "base/error.h"
#include "engine/calibration.h"
#include "engine/estimate.h"
#include "engine/memory.h"
#include "engine/plan.h"
#include "engine/store_info.h"
#include "tools/cli/failure.h"
#include "tools/cli/preprocess.h"
#include "tools/cli/run_estimate.h"

namespace tinyot::tools {

namespace {

template <class Measure>
auto measured(Measure measure) {
  try {
    return measure();
  } catch (const Error&) {
    const Failure failure = current_failure();
    throw CommandError("the calibration failed; --no-calibration skips it: " + failure.message,
                       failure.status, failure.remedy);
  }
}

}  // namespace

int params_command(const Arguments& arguments) {
  CommandLine line("params", "(--ands N | --circuit NAME|FILE) [options]",
                   "tinyot params --ands 2^24 --unit 2^20 --sigma 64");
  add_preprocess_options(line.options());
  line.options()
      .group("Circuit")
      .value("circuit",
             "a circuit: estimates a run as well, and the material for its runs unless --ands is "
             "given")
      .also_named("for")
      .value("runs", "with --circuit: the number of runs to make material for", "1");
  add_circuit_options(line.options());
  add_window_option(line.options());
  add_estimated_link_options(line.options());
  add_timeout_options(line.options());
  line.options().flag("no-calibration",
                      "do not estimate the time, which takes a short job on this machine");
  line.require_one_of({"ands", "circuit"});
  if (!line.parse(arguments)) return 0;
  const auto given = estimated_link_from(line);
  const net::LinkShape link = given.value_or(net::LinkShape{});
  std::optional<NamedCircuit> circuit;
  if (line.has("circuit")) circuit.emplace(circuit_spec_from(line, line.text("circuit")));
  std::optional<engine::Work> of_run;
  if (circuit)
    of_run = engine::work_of_runs(
        *circuit, offline::SecurityParameters::make(parameters_from(line)).material(),
        line.size("runs"));
  const PreprocessRequest job = engine::planned(preprocess_job_from(line, of_run));
  const offline::SecurityParameters params = offline::SecurityParameters::make(job.parameters);
  const engine::JobEstimate estimate = engine::estimate_of(job, link);
  const double per_and =
      static_cast<double>(estimate.bytes_sent) * 2 / static_cast<double>(job.ands);

  Json report = {{"command", "params"}, {"ands", job.ands}, {"inputs", inputs_of(job)}};
  const Security security = engine::security_reached(
      engine::security_of(params, estimate), engine::units_of(engine::requests_of(params, job)));
  add_security(report, security);
  add_units(report, security);
  if (params.profile() == Profile::Nnob12) report["labit_columns"] = params.columns_kept();
  report["seed_ots"] = estimate.base_ots;
  report["bytes_sent"] = estimate.bytes_sent;
  report["bytes_per_and"] = per_and;
  report["disk_bytes"] = estimate.disk_bytes;
  report["memory_bytes"] = estimate.memory_bytes;
  report["threads"] = job.threads;
  report["units_in_flight"] = estimate.units_in_flight;
  report["round_trips_per_unit"] = estimate.round_trips_of_unit;
  report.update(fields_of(given));
  report["memory_available_bytes"] = engine::available_memory_bytes();
  report["version"] = version_text();
  std::string text =
      grouped(job.ands) + " ANDs in " + grouped(estimate.units) +
      (estimate.units == 1 ? " unit" : " units") + " of at most " + grouped(params.unit()) +
      ", bucket " + std::to_string(params.bucket()) + "\n" + units_text(security) +
      "security: sigma " + std::to_string(params.sigma()) + ", reached " +
      decimals(estimate.paper_bound_bits, 1) +
      " bits by the paper's bound (exact: " + decimals(estimate.exact_bound_bits, 1) + "); kappa " +
      std::to_string(kKappa) + "\n" + profile_text(security) + ": " +
      (params.profile() == Profile::Nnob12
           ? "tau = " + std::to_string(params.columns_kept()) + " columns, "
           : "") +
      grouped(estimate.base_ots) + " base OTs each way, once\n" + "traffic: each party sends " +
      bytes_text(static_cast<double>(estimate.bytes_sent)) + "; both together " +
      bytes_text(per_and) + " per AND\n" +
      "memory: " + bytes_text(static_cast<double>(estimate.memory_bytes)) +
      " per party; disk: " + bytes_text(static_cast<double>(estimate.disk_bytes)) + " per party\n";
  std::optional<RunForecast> run;
  if (circuit) {
    run = run_forecast(*circuit, params.material(), line);
    report["circuit"] = circuit->info().name;
    report["run"] = fields_of(*run, given);
  }
  if (!line.has("no-calibration")) {
    const net::TcpTimeouts timeouts = timeouts_from(line);
    const engine::Calibration calibration =
        measured([&] { return engine::calibrate(job, timeouts); });
    const double seconds = engine::estimated_s(job, calibration, link);
    report["set_up_s"] = calibration.set_up_s;
    report["wall_s"] = seconds;
    report["ands_per_s"] = static_cast<double>(job.ands) / seconds;
    text += "time: " + seconds_text(seconds) + " (" +
            grouped(static_cast<std::uint64_t>(static_cast<double>(job.ands) / seconds)) +
            " ANDs/s) if both parties share a machine like this one, measured with " +
            grouped(calibration.ands) + " ANDs" +
            (given ? ", over the given link" : "; --rtt and --rate give the time over a network") +
            "\n";
    if (run) {
      const engine::RunComputation computation = measured([&] {
        return engine::measure_computation(*circuit, run->estimate, run->form, timeouts);
      });
      report["run"]["wall_s"] = engine::estimated_s(run->estimate, computation, link);
    }
  }
  if (run) {
    text += text_of(*run, given);
    if (report["run"].contains("wall_s"))
      text += "time of the run: " + seconds_text(report["run"]["wall_s"]) + "\n";
  }
  print_report(line.common().format, report, text);
  return 0;
}

}  // namespace tinyot::tools
