#include "engine/plan.h"
#include "tinyot/estimate.h"

namespace tinyot {

Estimate estimate(const ParameterRequest& parameters, std::uint64_t ands,
                  std::optional<std::uint64_t> inputs, std::uint64_t threads,
                  std::uint64_t memory_bytes) {
  const PreprocessRequest job = engine::resolve({.endpoint = {},
                                                 .store = {},
                                                 .parameters = parameters,
                                                 .ands = ands,
                                                 .inputs = inputs,
                                                 .threads = threads,
                                                 .memory_bytes = memory_bytes});
  const offline::SecurityParameters params = offline::SecurityParameters::make(job.parameters);
  const engine::JobEstimate cost = engine::estimate_of(job);
  return {.ands = ands,
          .inputs = inputs_of(job),
          .unit = params.unit(),
          .bucket = params.bucket(),
          .units = cost.units,
          .sigma_paper_bound = cost.paper_bound_bits,
          .sigma_exact = cost.exact_bound_bits,
          .base_ots = cost.base_ots,
          .bytes_sent = cost.bytes_sent,
          .disk_bytes = cost.disk_bytes,
          .memory_bytes = cost.memory_bytes};
}

}  // namespace tinyot
