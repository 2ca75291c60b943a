#include "tools/params.h"

#include "base/error.h"
#include "engine/calibration.h"
#include "engine/estimate.h"
#include "engine/memory.h"
#include "engine/plan.h"
#include "tools/failure.h"
#include "tools/local_link.h"
#include "tools/preprocess.h"

namespace tinyot::tools {

namespace {

engine::Calibration measured(const engine::PreprocessRequest& job,
                             const net::TcpTimeouts& timeouts) {
  try {
    return engine::calibrate(job, timeouts);
  } catch (const Error&) {
    const Failure failure = current_failure();
    throw CommandError("the calibration failed; --no-calibration skips it: " + failure.message,
                       failure.status, failure.remedy);
  }
}

}  // namespace

int params_command(const Arguments& arguments) {
  CommandLine line("tinyot params --ands N [options]",
                   "tinyot params --ands 2^24 --unit 2^20 --sigma 64");
  add_preprocess_options(line.options());
  add_estimated_link_options(line.options());
  line.options().flag("no-calibration",
                      "do not estimate the time, which takes a short job on this machine");
  if (!line.parse(arguments)) return 0;
  const engine::PreprocessRequest job = engine::planned(preprocess_job_from(line));
  const SecurityParameters params = SecurityParameters::make(job.parameters);
  const LocalLink local = local_link_from(line);
  const engine::LinkEstimate link =
      local.shape ? engine::LinkEstimate{local.shape->rtt, local.shape->bits_per_s}
                  : engine::LinkEstimate{};
  const engine::JobEstimate estimate = engine::estimate_of(job, link);
  const double per_and =
      static_cast<double>(estimate.bytes_sent) * 2 / static_cast<double>(job.ands);

  Json report = {{"command", "params"}, {"ands", job.ands}, {"inputs", job.inputs}};
  add_security(report, engine::security_of(params, estimate));
  add_units(report, engine::security_of(params, estimate),
            engine::units_of(engine::requests_of(params, job)));
  if (params.profile() == Profile::Nnob12) report["labit_columns"] = params.columns_kept();
  report["seed_ots"] = estimate.base_ots;
  report["bytes_sent"] = estimate.bytes_sent;
  report["bytes_per_and"] = per_and;
  report["disk_bytes"] = estimate.disk_bytes;
  report["memory_bytes"] = estimate.memory_bytes;
  report["threads"] = job.threads;
  report["units_in_flight"] = estimate.units_in_flight;
  report["round_trips_per_unit"] = estimate.round_trips_of_unit;
  report.update(fields_of(local.shape));
  report["memory_available_bytes"] = engine::available_memory_bytes();
  report["version"] = version_text();
  std::string text =
      grouped(job.ands) + " ANDs in " + grouped(estimate.units) + " units of at most " +
      grouped(params.unit()) + ", bucket " + std::to_string(params.bucket()) + "\n" +
      units_text(report) + "security: sigma " + std::to_string(params.sigma()) + ", reached " +
      decimals(estimate.paper_bound_bits, 1) +
      " bits by the paper's bound (exact: " + decimals(estimate.exact_bound_bits, 1) + "); kappa " +
      std::to_string(kKappa) + "\n" + profile_text(report) + ": " +
      (params.profile() == Profile::Nnob12
           ? "tau = " + std::to_string(params.columns_kept()) + " columns, "
           : "") +
      grouped(estimate.base_ots) + " base OTs each way, once\n" + "traffic: each party sends " +
      bytes_text(static_cast<double>(estimate.bytes_sent)) + ", " + bytes_text(per_and) +
      " per AND, both ways together\n" +
      "memory: " + bytes_text(static_cast<double>(estimate.memory_bytes)) +
      " per party; disk: " + bytes_text(static_cast<double>(estimate.disk_bytes)) + " per party\n";
  if (!line.has("no-calibration")) {
    const engine::Calibration calibration = measured(job, timeouts_from(line));
    const double seconds = engine::estimated_s(job, calibration, link);
    report["set_up_s"] = calibration.set_up_s;
    report["wall_s"] = seconds;
    report["ands_per_s"] = static_cast<double>(job.ands) / seconds;
    text += "time: " + seconds_text(seconds) + " (" +
            grouped(static_cast<std::uint64_t>(static_cast<double>(job.ands) / seconds)) +
            " ANDs/s) if both parties share a machine like this one, measured with " +
            grouped(calibration.ands) + " ANDs" +
            (local.shape ? ", over the given link"
                         : "; --rtt and --rate give the time over a network") +
            "\n";
  }
  print_report(line.common().format, report, text);
  return 0;
}

}  // namespace tinyot::tools
