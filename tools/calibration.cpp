#include "tools/calibration.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "tools/bench.h"
#include "tools/local.h"
#include "tools/memory.h"

namespace tinyot::tools {
namespace {

// ANDs to make: a quarter of the job, so that units that do not fit into the caches show what that
// costs; enough for the rate to show, and few enough to be over in a few seconds.
constexpr std::uint64_t kMeasuredAndsMin = std::uint64_t{1} << 15,
                        kMeasuredAndsMax = std::uint64_t{1} << 18;
constexpr std::uint64_t kFasterBy = 8;  // the fast profile, at least

std::uint64_t leaky_objects(const SecurityParameters& params, std::uint64_t ands) {
  std::uint64_t objects = 0;
  for (const UnitPlan& plan : params.plan(ands)) objects += plan.ands * plan.bucket;
  return objects;
}

offline::JobEstimate estimate(const PreprocessJob& job) {
  return offline::estimate_job(SecurityParameters::make(job.parameters), job.ands, job.inputs,
                               job.threads);
}

double measured_s_per_fresh_byte() {
  constexpr std::size_t kBytes = std::size_t{128} << 20;
  const auto begin = std::chrono::steady_clock::now();
  use_memory_once(kBytes);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / kBytes;
}

}  // namespace

Calibration calibrate(const PreprocessJob& job, const net::TcpTimeouts& timeouts) {
  PreprocessJob small = job;
  small.quiet = true;
  small.resume = false;
  const SecurityParameters whole = SecurityParameters::make(job.parameters);
  const std::uint64_t faster = whole.profile() == Profile::Fast ? kFasterBy : 1;
  // As many units at a time as the job will have, and the bucket that its units have.
  small.threads = std::min(job.threads, (job.ands + whole.unit() - 1) / whole.unit());
  small.parameters.bucket = whole.bucket();
  small.parameters.weak_allowed = true;
  small.parameters.unit = std::min(
      whole.unit(), std::clamp(job.ands / 4, faster * kMeasuredAndsMin, faster * kMeasuredAndsMax) /
                        small.threads);
  small.ands = *small.parameters.unit * small.threads;
  small.inputs = small.ands / 16;

  const TemporaryDirectory dir;
  const JobResult result = preprocess_locally(small, dir.path(), timeouts);
  if (result.exit_status != 0)
    throw Error(static_cast<ExitStatus>(result.exit_status),
                "the calibration failed; --no-calibration goes without it");
  const Json& report = slower_of(result.report);
  Calibration calibration{wall_of_phase(report, "seed OTs"), 0, measured_s_per_fresh_byte(),
                          estimate(small).memory_bytes + estimate(small).disk_bytes, small.ands};
  const SecurityParameters params = SecurityParameters::make(small.parameters);
  calibration.leaky_objects_per_s = static_cast<double>(leaky_objects(params, small.ands)) /
                                    (report["wall_s"].get<double>() - calibration.set_up_s);
  return calibration;
}

double estimated_s(const PreprocessJob& job, const Calibration& calibration) {
  const double objects =
      static_cast<double>(leaky_objects(SecurityParameters::make(job.parameters), job.ands));
  // The store is written through memory as well.
  const offline::JobEstimate whole = estimate(job);
  const double fresh_bytes = static_cast<double>(whole.memory_bytes + whole.disk_bytes) -
                             static_cast<double>(calibration.fresh_bytes);
  return calibration.set_up_s + objects / calibration.leaky_objects_per_s +
         std::max(0.0, fresh_bytes) * calibration.s_per_fresh_byte;
}

}  // namespace tinyot::tools
