#include "offline/forecast.h"

#include <algorithm>
#include <limits>

#include "base/block.h"
#include "offline/nnob12_unit.h"
#include "offline/object_chunks.h"

namespace tinyot {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t kHeader = 16;                     // of a message
constexpr std::uint64_t kProgramBytes = 32 << 20;         // code, libraries, socket queues
constexpr std::uint64_t kWorkerBytes = 128 << 20;         // of each further worker: what it reads ahead of need, its allocator
constexpr std::uint64_t kEmptyStoreBytes = 84 << 10;      // the store's own pages
constexpr std::uint64_t kCommitBytes = 16 << 20;          // material that waits for its commit in the store, at most

std::uint64_t leaky_bytes(std::uint64_t objects) {
  const std::uint64_t chunks = (objects + kChunkObjects - 1) / kChunkObjects, bits = bytes_for(objects);
  const std::uint64_t ands = bits + 16 * objects + chunks * 2 * kHeader;                            // d, U
  const std::uint64_t ots = 2 * (bits + 32 * objects) + bits + 32 * objects + chunks * 9 * kHeader;  // X_0, X_1, d, I_0, I_1
  return ands + ots;
}

// LaBit, its check, and R.
std::uint64_t run_bytes(const SecurityParameters& params, std::uint64_t length) {
  const std::uint64_t columns = params.columns_made() * length / 8 + chunks_of(length).size() * kHeader;
  const std::uint64_t check = 32 + bytes_for(params.columns_kept()) + 3 * 32 + 4 * kHeader;
  return columns + check + 128 * BitMatrix(0, params.columns_kept()).row_words() * 8 + kHeader;
}

std::uint64_t tie_bytes() { return bytes_for(kTieBits) + 3 * 32 + 3 * kHeader; }

}  // namespace

UnitForecast forecast_unit(const SecurityParameters& params, const UnitRequest& request) {
  const std::uint64_t tau = params.columns_kept(), t = params.columns_made();
  const std::uint64_t length = RunLayout(params, UnitLayout(request).end(), 1).length;
  const std::uint64_t leaky = request.plan.ands * request.plan.bucket;

  UnitForecast forecast;
  forecast.auth_bits = length;
  const std::uint64_t combiners = 2 * (32 + kHeader) + 2 * (bytes_for((request.plan.bucket - 1) * request.plan.ands) + kHeader);
  forecast.bytes_sent = run_bytes(params, length) + tie_bytes() + leaky_bytes(leaky) + 5 * 32 + 4 * kHeader + combiners + 32 + kHeader;

  const std::uint64_t bits = length * (sizeof(Mac) + sizeof(Key)) + 2 * bytes_for(length);
  const std::uint64_t permutations = 4 * leaky * sizeof(std::uint32_t);
  const std::uint64_t keys = 3 * t * sizeof(AesKey), chunk = (2 * t + 2 * tau) * kChunkBits / 8;
  forecast.memory_bytes = bits + std::max(permutations + 4 * bytes_for((request.plan.bucket - 1) * request.plan.ands), keys + chunk);
  return forecast;
}

JobForecast forecast_job(const SecurityParameters& params, std::uint64_t ands, std::uint64_t inputs, std::uint64_t threads) {
  JobForecast job;
  job.seed_ots = params.columns_made();
  job.bytes_sent = 96 * job.seed_ots + 2 * kHeader;
  const auto plans = params.plan(ands);
  if (plans.size() > 1) job.bytes_sent += run_bytes(params, RunLayout(params, 0, std::min(plans.size(), AuthBitMaker::kLanes)).length);
  job.paper_bound_bits = job.exact_bound_bits = std::numeric_limits<double>::infinity();
  std::uint64_t first = 0, memory = 0;
  for (const UnitPlan& plan : plans) {
    const UnitForecast unit = forecast_unit(params, {plan, inputs_of_unit(inputs, ands, first, plan.ands)});
    ++job.units;
    job.bytes_sent += unit.bytes_sent;
    memory = std::max(memory, unit.memory_bytes);
    job.paper_bound_bits = std::min(job.paper_bound_bits, params.bound_bits(plan.ands, plan.bucket));
    job.exact_bound_bits = std::min(job.exact_bound_bits, params.exact_bits(plan.ands, plan.bucket));
    first += plan.ands;
  }
  // Eight columns of mine and eight of the peer's an AND, one of each an input.
  job.disk_bytes = (8 * ands + inputs) * (sizeof(Mac) + sizeof(Key)) + bytes_for(8 * ands + inputs) + kEmptyStoreBytes;
  // Material waits as it was poured, and once more as the pages that it is written to.
  const std::uint64_t workers = std::min(threads, job.units);
  job.memory_bytes = memory * workers + kProgramBytes + (workers - 1) * kWorkerBytes + 2 * std::min(kCommitBytes, job.disk_bytes);
  return job;
}

std::uint64_t inputs_of_unit(std::uint64_t inputs, std::uint64_t ands, std::uint64_t first, std::uint64_t count) {
  const auto share = [&](std::uint64_t upto) {
    return static_cast<std::uint64_t>(static_cast<Wide>(inputs) * upto / std::max<std::uint64_t>(ands, 1));
  };
  return share(first + count) - share(first);
}

}  // namespace tinyot
