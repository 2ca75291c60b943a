#include "tools/cli/render/preprocess.h"

#include <algorithm>

#include "base/block.h"
#include "engine/memory.h"
#include "offline/nnob12/columns.h"
#include "system/memory_use.h"
#include "tools/cli/render/report.h"
#include "tools/cli/render/text.h"

namespace tinyot::tools {
namespace {

double rate_of(const PreprocessResult& result) {
  return result.wall_s > 0 ? static_cast<double>(result.ands) / result.wall_s : 0;
}

Json json_of(Party party, const PreprocessResult& result) {
  Json report = {{"party", std::string(1, letter(party))},
                 {"command", "preprocess"},
                 {"session", result.store.session},
                 {"ands", result.ands}};
  add_security(report, result.store.security);
  if (result.base_ot) report["base_ot"] = name_of(*result.base_ot);
  report["threads"] = result.threads;
  report["units_in_flight"] = result.units_in_flight;
  report["latency_ms"] = 1e3 * result.latency_s;
  report["complete"] = result.store.state == StoreState::Complete;
  report["ands_left"] = result.store.ands_left;
  report["inputs_left"] = result.store.inputs_left;
  report["wall_s"] = result.wall_s;
  report["ands_per_s"] = rate_of(result);
  add_units(report, result.store.security);
  report["store_bytes"] = result.store.bytes;
  add_measurements(report, result.phases);
  return report;
}

std::string sigma_text(std::uint32_t sigma, double paper_bound, double exact) {
  return "security: sigma " + std::to_string(sigma) + ", reached " + decimals(paper_bound, 1) +
         " bits by the paper's bound (exact: " + decimals(exact, 1) + ")";
}

std::string text_of(Party party, const PreprocessResult& result) {
  std::uint64_t sent = 0, received = 0;
  for (const PhaseCost& phase : result.phases) {
    sent += phase.bytes_sent;
    received += phase.bytes_received;
  }
  const Security& security = result.store.security;
  const bool is_complete = result.store.state == StoreState::Complete;
  const std::string name = std::string("party ") + letter(party) + ": ",
                    left = "left: " + grouped(result.store.ands_left) + " ANDs, " +
                           grouped(result.store.inputs_left) + " inputs of each party\n";
  if (is_complete && result.ands == 0)
    return name + "nothing to make, the store has what was asked for\n" + left;
  return name + "made " + grouped(result.ands) + " ANDs in " + seconds_text(result.wall_s) + " (" +
         grouped(rate_of(result)) + "/s), sent " + bytes_text(sent) + ", received " +
         bytes_text(received) + "\n" +
         sigma_text(security.sigma, security.sigma_paper_bound, security.sigma_exact) +
         ", bucket " + security.bucket.text() + ", unit " + grouped(security.unit) + ", " +
         profile_text(security) + "\n" + units_text(security) + left +
         "store: " + bytes_text(result.store.bytes) + ", peak memory " +
         bytes_text(system::peak_resident_bytes()) +
         (is_complete
              ? "\n"
              : "; interrupted here or by the peer, continue with --resume on both sides\n");
}

bool has_columns(const offline::SecurityParameters& params) {
  return std::holds_alternative<Nnob12Parameters>(params.own());
}

double bytes_per_and(const Estimate& estimate) {
  return static_cast<double>(estimate.bytes_sent) * 2 / static_cast<double>(estimate.ands);
}

std::string bytes_per_and_text(const Estimate& estimate) {
  const double bytes = bytes_per_and(estimate);
  return (bytes < 100 ? decimals(bytes, 1) + " B" : bytes_text(bytes)) + " per AND";
}

Json json_of(const ComparedJob& job) {
  Json report = Json::object();
  add_security(report, job.security);
  report["bytes_per_and"] = bytes_per_and(job.estimate);
  report["memory_bytes"] = job.estimate.memory_bytes;
  if (job.wall_s) {
    report["wall_s"] = *job.wall_s;
    report["ands_per_s"] = static_cast<double>(job.estimate.ands) / *job.wall_s;
  }
  return report;
}

std::string text_of(const std::vector<ComparedJob>& jobs) {
  if (jobs.empty()) return {};
  std::string text = "compared, both directions together:\n";
  for (const ComparedJob& job : jobs)
    text += "  " + profile_text(job.security) + ": bucket " + job.security.bucket.text() + ", " +
            bytes_per_and_text(job.estimate) + ", memory " + bytes_text(job.estimate.memory_bytes) +
            (job.wall_s ? ", " + seconds_text(*job.wall_s) : "") + "\n";
  const auto fastest = std::ranges::min_element(jobs, {}, &ComparedJob::wall_s);
  if (fastest->wall_s)
    text += "the fastest over this link: " + profile_text(fastest->security) + "\n";
  return text;
}

Json json_of(const JobForecast& forecast) {
  const auto& [job, params, estimate, security, link, calibration, wall_s, run, compared] =
      forecast;
  Json report = {{"command", "params"}, {"ands", job.ands}, {"inputs", inputs_of(job)}};
  add_security(report, security);
  add_units(report, security);
  if (has_columns(params)) report["labit_columns"] = offline::columns_kept(params);
  report["base_ots"] = estimate.base_ots;
  report["bytes_sent"] = estimate.bytes_sent;
  report["bytes_per_and"] = bytes_per_and(estimate);
  report["disk_bytes"] = estimate.disk_bytes;
  report["memory_bytes"] = estimate.memory_bytes;
  report["threads"] = job.threads;
  report["units_in_flight"] = estimate.units_in_flight;
  report["round_trips_per_unit"] = estimate.round_trips_of_unit;
  report.update(fields_of(link));
  report["memory_available_bytes"] = engine::available_memory_bytes();
  report["version"] = version_text();
  if (run) {
    report["circuit"] = run->circuit;
    report["run"] = fields_of(run->forecast, link);
  }
  for (const ComparedJob& each : compared) report["compared"].push_back(json_of(each));
  if (calibration) {
    report["set_up_s"] = calibration->set_up_s;
    report["wall_s"] = wall_s;
    report["ands_per_s"] = static_cast<double>(job.ands) / wall_s;
  }
  return report;
}

std::string text_of(const JobForecast& forecast) {
  const auto& [job, params, estimate, security, link, calibration, wall_s, run, compared] =
      forecast;
  std::string text =
      grouped(job.ands) + " ANDs in " + counted(estimate.units, "unit") + " of at most " +
      grouped(params.unit()) + ", bucket " + params.bucket().text() + "\n" + units_text(security) +
      sigma_text(params.sigma(), estimate.sigma_paper_bound, estimate.sigma_exact) + "; kappa " +
      std::to_string(security.kappa) + "\n" + profile_text(security) + ": " +
      (has_columns(params) ? "tau = " + std::to_string(offline::columns_kept(params)) + " columns, "
                           : "") +
      grouped(estimate.base_ots) + " base OTs each way, once\n" + "traffic: each party sends " +
      bytes_text(estimate.bytes_sent) + "; both together " + bytes_per_and_text(estimate) + "\n" +
      "memory: " + bytes_text(estimate.memory_bytes) +
      " per party; disk: " + bytes_text(estimate.disk_bytes) + " per party\n";
  if (calibration)
    text +=
        "time: " + seconds_text(wall_s) + " (" + grouped(static_cast<double>(job.ands) / wall_s) +
        " ANDs/s) if both parties share a machine like this one, measured with " +
        grouped(calibration->ands) + " ANDs" +
        (link ? ", over the given link" : "; --rtt and --rate give the time over a network") + "\n";
  text += text_of(compared);
  return run ? text + text_of(run->forecast, link) : text;
}

}  // namespace

void print(Format format, Party party, const PreprocessResult& result) {
  print_report(format, json_of(party, result), text_of(party, result));
}

void print(Format format, const JobForecast& forecast) {
  print_report(format, json_of(forecast), text_of(forecast));
}

}  // namespace tinyot::tools
