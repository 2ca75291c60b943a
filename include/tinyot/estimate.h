// What a preprocessing job costs and how secure it is, computed before it runs.
#pragma once

#include <cstdint>
#include <optional>

#include "tinyot/parameters.h"
#include "tinyot/preprocess.h"

namespace tinyot {

struct Estimate {
  std::uint64_t ands = 0, inputs = 0;
  std::uint64_t unit = 0;  // ANDs permuted together
  BucketSizes bucket;      // B
  std::uint64_t units = 0;
  double sigma_paper_bound = 0, sigma_exact = 0;  // bits, the least over the units
  std::uint64_t base_ots = 0;                     // in each direction
  std::uint64_t bytes_sent = 0;                   // by each party
  std::uint64_t disk_bytes = 0;                   // of each party's material
  std::uint64_t memory_bytes = 0;                 // peak, of each party
};

// Of a job with these amounts (tinyot/preprocess.h). Fails: UsageError for parameters that do not
// reach sigma.
Estimate estimate(const ParameterRequest& parameters, std::uint64_t ands,
                  std::optional<std::uint64_t> inputs = {}, std::uint64_t threads = 1,
                  std::uint64_t memory_bytes = kDefaultMemoryBytes);

}  // namespace tinyot
