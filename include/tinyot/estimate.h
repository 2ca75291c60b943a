// What a preprocessing job costs and how secure it is, computed before it runs.
#pragma once

#include <cstdint>
#include <optional>

#include "tinyot/export.h"
#include "tinyot/parameters.h"
#include "tinyot/preprocess.h"

namespace tinyot {

// Tests compare it with what jobs measure.
struct Estimate {
  std::uint64_t ands = 0, inputs = 0;
  std::uint64_t unit = 0;  // ANDs permuted together
  BucketSizes bucket;      // B
  std::uint64_t units = 0, units_in_flight = 1;
  // Bits, the least over the units; infinite without ANDs, since nothing is made then.
  double sigma_paper_bound = 0, sigma_exact = 0;
  std::uint64_t base_ots = 0;      // by public-key cryptography, in each direction
  std::uint64_t bytes_sent = 0;    // by each party, base OTs included
  std::uint64_t disk_bytes = 0;    // of each party's material
  std::uint64_t memory_bytes = 0;  // peak resident memory of each party
  // The round trips of a unit that do not depend on its size; and those before the first unit.
  double round_trips_of_unit = 0, round_trips_of_set_up = 0;
};

// Of a job with these amounts (tinyot/preprocess.h). Fails: UsageError for parameters that do not
// reach sigma.
TINYOT_API Estimate estimate(const ParameterRequest& parameters, std::uint64_t ands,
                             std::optional<std::uint64_t> inputs = {}, std::uint64_t threads = 1,
                             std::uint64_t memory_bytes = kDefaultMemoryBytes);

}  // namespace tinyot
