#include "engine/unit_size.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>

#include "base/error.h"
#include "engine/estimate.h"

namespace tinyot::engine {
namespace {

constexpr std::uint64_t kUnitMin = std::uint64_t{1} << 10;

// A given bucket size may miss sigma with some unit sizes.
bool reaches_sigma(const ParameterRequest& request) {
  try {
    offline::SecurityParameters::make(request);
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

}  // namespace

std::uint64_t choose_unit(const ParameterRequest& request, std::uint64_t ands, std::uint64_t inputs,
                          std::uint64_t memory_bytes) {
  if (request.unit) return std::min(*request.unit, ands);
  struct Choice {
    std::uint64_t unit;
    BucketSizes bucket;
  };
  std::optional<Choice> best;
  std::uint64_t least_bytes = ~std::uint64_t{0};
  const std::uint64_t usual = offline::entry_of(request.profile).usual_unit,
                      largest = std::min(kUnitMax, std::bit_ceil(ands));
  for (std::uint64_t size = std::min(kUnitMin, largest); size <= largest; size *= 2) {
    ParameterRequest sized = request;
    sized.unit = std::min(size, ands);
    if (request.bucket && !reaches_sigma(sized)) continue;
    const offline::SecurityParameters params = offline::SecurityParameters::make(sized);
    const std::uint64_t at_once = std::min(ands, params.unit() * request.workers);
    const std::uint64_t bytes =
        estimate_job(params, at_once, inputs_of_unit(inputs, ands, 0, at_once), request.workers)
            .memory_bytes;
    least_bytes = std::min(least_bytes, bytes);
    if (bytes > memory_bytes) break;
    if (!best || params.bucket() < best->bucket ||
        (params.bucket() == best->bucket && best->unit < usual))
      best = {params.unit(), params.bucket()};
  }
  // SecurityParameters::make rejects it, and names the bucket that suffices
  if (!best && request.bucket) return std::min(usual, ands);
  if (!best)
    throw UsageError("the memory limit of " + std::to_string(memory_bytes) +
                     " bytes is too small: the smallest units need " + std::to_string(least_bytes) +
                     " bytes with " + std::to_string(request.workers) + " workers");
  return best->unit;
}

}  // namespace tinyot::engine
