#include "engine/calibration.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "engine/memory.h"
#include "engine/plan.h"
#include "engine/two_party_harness.h"
#include "system/temporary_directory.h"

namespace tinyot::engine {
namespace {

// Limits on the ANDs of the short job. It makes a quarter of the job, so that the cost of units
// that exceed the caches shows: enough for a stable rate, and few enough to finish in a few
// seconds.
constexpr std::uint64_t kMeasuredAndsMin = std::uint64_t{1} << 15,
                        kMeasuredAndsMax = std::uint64_t{1} << 18;

std::uint64_t leaky_objects(const offline::SecurityParameters& params, std::uint64_t ands) {
  std::uint64_t objects = 0;
  for (const UnitPlan& plan : params.plan(ands))
    objects += plan.ands * params.entry().leaky_per_and(plan.bucket);
  return objects;
}

double measured_s_per_fresh_byte() {
  constexpr std::size_t kBytes = std::size_t{128} << 20;
  const auto begin = std::chrono::steady_clock::now();
  use_memory_once(kBytes);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / kBytes;
}

}  // namespace

Calibration calibrate(const PreprocessRequest& job, const net::TcpTimeouts& timeouts) {
  PreprocessRequest small = job;
  small.resume = false;
  small.session.reset();
  small.shard = small.shards = 1;
  const offline::SecurityParameters whole = offline::SecurityParameters::make(job.parameters);
  const std::uint64_t faster = whole.entry().speed;
  // As many units at a time as the job will make, with the same bucket size.
  small.threads = std::min(job.threads, (job.ands + whole.unit() - 1) / whole.unit());
  small.parameters.bucket = whole.bucket();
  small.parameters.weak_allowed = true;
  small.parameters.unit = std::min(
      whole.unit(), std::clamp(job.ands / 4, faster * kMeasuredAndsMin, faster * kMeasuredAndsMax) /
                        small.threads);
  small.ands = *small.parameters.unit * small.threads;
  small.inputs = small.ands / 16;

  const PreprocessResult result =
      preprocess_as_both(small, system::TemporaryDirectory().path(), timeouts);
  double set_up_s = 0;
  for (const PhaseCost& phase : result.phases)
    if (phase.name == "base OTs" || phase.name == "silent start") set_up_s += phase.wall_s;
  const Estimate cost = estimate_of(small);
  Calibration calibration{set_up_s, 0, measured_s_per_fresh_byte(),
                          cost.memory_bytes + cost.disk_bytes, small.ands};
  const offline::SecurityParameters params = offline::SecurityParameters::make(small.parameters);
  calibration.leaky_objects_per_s = static_cast<double>(leaky_objects(params, small.ands)) /
                                    (result.wall_s - calibration.set_up_s);
  return calibration;
}

double estimated_s(const PreprocessRequest& job, const Calibration& calibration,
                   const net::LinkShape& link) {
  const offline::SecurityParameters params = offline::SecurityParameters::make(job.parameters);
  const double objects = static_cast<double>(leaky_objects(params, job.ands));
  // Data written to the store pass through memory as well.
  const Estimate whole = estimate_of(job, link);
  const double fresh_bytes = static_cast<double>(whole.memory_bytes + whole.disk_bytes) -
                             static_cast<double>(calibration.fresh_bytes);
  const double work_s = objects / calibration.leaky_objects_per_s +
                        std::max(0.0, fresh_bytes) * calibration.s_per_fresh_byte,
               traffic_s = link.bits_per_s > 0
                               ? 8 * static_cast<double>(whole.bytes_sent) / link.bits_per_s
                               : 0,
               rtt_s = std::chrono::duration<double>(link.rtt).count(),
               unit_wait_s = whole.round_trips_of_unit * rtt_s,
               units = static_cast<double>(whole.units);
  const double in_flight = static_cast<double>(whole.units_in_flight);
  // With nnob12, the columns are almost all of the traffic, and about half of the work; the rest
  // follows.
  const double at_work_s =
      std::max(work_s, traffic_s + (params.entry().sends_throughout ? 0 : work_s / 2));
  // Units that wait side by side wait while others are at work.
  const double units_s =
      params.entry().layer_bytes != nullptr
          ? unit_wait_s + std::max(at_work_s, (units - 1) * unit_wait_s / in_flight)
          : std::ceil(units / in_flight) * unit_wait_s + at_work_s;
  return calibration.set_up_s + whole.round_trips_of_set_up * rtt_s + units_s;
}

}  // namespace tinyot::engine
