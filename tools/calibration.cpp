#include "tools/calibration.h"

#include <algorithm>

#include "base/error.h"
#include "tools/bench.h"
#include "tools/local.h"

namespace tinyot {
namespace {

// ANDs to make: an eighth of the job, so that units that do not fit into the caches show what that costs; enough for the rate
// to show, and few enough to be over in a second or two.
constexpr std::uint64_t kAndsMin = std::uint64_t{1} << 15, kAndsMax = std::uint64_t{1} << 17;

std::uint64_t leaky_objects(const SecurityParameters& params, std::uint64_t ands) {
  std::uint64_t objects = 0;
  for (const UnitPlan& plan : params.plan(ands)) objects += plan.ands * plan.bucket;
  return objects;
}

}  // namespace

Calibration calibrate(const PreprocessJob& job, const TcpTimeouts& timeouts) {
  PreprocessJob small = job;
  small.quiet = true;
  small.resume = false;
  // As many units at a time as the job will have, and the bucket that its units have.
  small.threads = std::min(job.threads, (job.ands + job.parameters.unit - 1) / job.parameters.unit);
  small.parameters.bucket = SecurityParameters::make(job.parameters).bucket();
  small.parameters.weak_allowed = true;
  small.parameters.unit = std::min(job.parameters.unit, std::clamp(job.ands / 8, kAndsMin, kAndsMax) / small.threads);
  small.ands = small.parameters.unit * small.threads;
  small.inputs = small.ands / 16;

  const TemporaryDirectory dir;
  const JobResult result = preprocess_locally(small, dir.path(), timeouts);
  if (result.exit_status != 0) throw Error(static_cast<ExitStatus>(result.exit_status), "the calibration failed; --no-calibration goes without it");
  const Json& report = slower_of(result.report);
  Calibration calibration{wall_of_phase(report, "seed OTs"), 0, small.ands};
  const SecurityParameters params = SecurityParameters::make(small.parameters);
  calibration.leaky_objects_per_s =
      static_cast<double>(leaky_objects(params, small.ands)) / (report["wall_s"].get<double>() - calibration.set_up_s);
  return calibration;
}

double foretold_s(const PreprocessJob& job, const Calibration& calibration) {
  return calibration.set_up_s + static_cast<double>(leaky_objects(SecurityParameters::make(job.parameters), job.ands)) / calibration.leaky_objects_per_s;
}

}  // namespace tinyot
