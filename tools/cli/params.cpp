// `tinyot params`: security and cost of a preprocessing job, before anything runs.
#include <algorithm>
#include <optional>

#include "base/error.h"
#include "engine/calibration.h"
#include "engine/estimate.h"
#include "engine/link_fit.h"
#include "engine/memory.h"
#include "engine/plan.h"
#include "engine/store_info.h"
#include "tools/cli/failure.h"
#include "tools/cli/local_link.h"
#include "tools/cli/preprocess.h"
#include "tools/cli/render/preprocess.h"

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

// The same amount of ANDs by each profile, without those that do not make the material asked for.
std::vector<ComparedJob> compared_jobs(const PreprocessRequest& job, bool material_is_given,
                                       const net::LinkShape& link,
                                       const std::optional<net::TcpTimeouts>& calibrated) {
  std::vector<ComparedJob> compared;
  for (const offline::ProfileEntry* profile : offline::profiles())
    for (const ProfileParameters& own : profile->compared) {
      PreprocessRequest other = job;
      other.parameters = {.profile = profile->profile,
                          .own = own,
                          .sigma = job.parameters.sigma,
                          .weak_allowed = job.parameters.weak_allowed};
      if (material_is_given) other.parameters.material = job.parameters.material;
      if (std::ranges::find(profile->materials, offline::material_of(other.parameters)) ==
          profile->materials.end())
        continue;
      other = engine::resolve(other);
      const auto params = offline::SecurityParameters::make(other.parameters);
      ComparedJob each{.estimate = engine::estimate_of(other, link)};
      each.security = engine::security_reached(engine::security_of(params, each.estimate), {});
      if (calibrated)
        each.wall_s = engine::estimated_s(
            other, measured([&] { return engine::calibrate(other, *calibrated); }), link);
      compared.push_back(std::move(each));
    }
  return compared;
}

}  // namespace

int params_command(const Arguments& arguments) {
  CommandLine line("params", "(--ands N | --for CIRCUIT) [options]",
                   "tinyot params --ands 2^24 --unit 2^20 --sigma 64");
  add_preprocess_options(line.options());
  line.options()
      .group("Circuit")
      .value("for",
             "a circuit: estimates a run as well, and the material for its runs unless --ands is "
             "given")
      .alias("circuit")
      .value("runs", "with --for: the number of runs to make material for", "1");
  add_circuit_options(line.options());
  add_window_option(line.options());
  add_shape_options(line.options(), kEstimatedLink);
  add_timeout_options(line.options());
  line.options()
      .flag("compare",
            "what the same ANDs cost with each profile, and which one is the fastest over the link")
      .flag("no-calibration", "do not estimate the time, which takes a short job on this machine");
  line.require_one_of({"ands", "for"});
  if (!line.parse(arguments)) return 0;
  const auto given = one_shape_from(line);
  const net::LinkShape link = given.value_or(net::LinkShape{});
  std::optional<NamedCircuit> circuit;
  if (line.has("for")) circuit.emplace(circuit_spec_from(line, line.text("for")));
  std::optional<engine::Demand> of_run;
  if (circuit)
    of_run = engine::demand_of_runs(
        *circuit, offline::SecurityParameters::make(parameters_from(line)).material(),
        line.size("runs"));
  PreprocessRequest job = engine::resolve(preprocess_request_from(line, of_run));
  const engine::JobPlan open(job);
  job.parameters.own =
      engine::fitted_to_rate(open.params, open.demand.ands, job.threads, link.bits_per_s).own();
  const offline::SecurityParameters params = offline::SecurityParameters::make(job.parameters);
  const Estimate estimate = engine::estimate_of(job, link);
  JobForecast forecast{job, params, estimate,
                       engine::security_reached(engine::security_of(params, estimate),
                                                engine::units_of(engine::requests_of(params, job))),
                       given};
  if (circuit)
    forecast.run = {circuit->info().name,
                    run_forecast(*circuit, params.material(), line, link, job.parameters.sigma)};
  const net::TcpTimeouts timeouts = timeouts_from(line);
  const bool is_calibrated = !line.has("no-calibration");
  if (line.has("compare"))
    forecast.compared = compared_jobs(job, line.has("material"), link,
                                      is_calibrated ? std::optional(timeouts) : std::nullopt);
  if (is_calibrated) {
    forecast.calibration = measured([&] { return engine::calibrate(job, timeouts); });
    forecast.wall_s = engine::estimated_s(job, *forecast.calibration, link);
    if (forecast.run) {
      RunForecast& run = forecast.run->forecast;
      for (const engine::RunEstimate& each : run.estimates)
        run.wall_s.push_back(engine::estimated_s(each, measured([&] {
                                                   return engine::measure_computation(
                                                       *circuit, each, run.form, timeouts);
                                                 }),
                                                 link));
    }
  }
  print(line.common().format, forecast);
  return 0;
}

}  // namespace tinyot::tools
