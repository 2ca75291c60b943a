#include "engine/plan.h"
#include "tinyot/estimate.h"

namespace tinyot {

Estimate estimate(const ParameterRequest& parameters, std::uint64_t ands,
                  std::optional<std::uint64_t> inputs, std::uint64_t threads,
                  std::uint64_t memory_bytes) {
  return engine::estimate_of(engine::resolve({.endpoint = {},
                                              .store = {},
                                              .parameters = parameters,
                                              .ands = ands,
                                              .inputs = inputs,
                                              .threads = threads,
                                              .memory_bytes = memory_bytes}));
}

}  // namespace tinyot
