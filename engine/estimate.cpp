#include "engine/estimate.h"

#include <algorithm>
#include <limits>

#include "base/block.h"
#include "engine/connection.h"
#include "engine/link_fit.h"
#include "offline/triples/layer_pool.h"
#include "offline/unit/cost.h"
#include "storage/record.h"

namespace tinyot::engine {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t kProgramBytes = 64 << 20;  // code, libraries, socket queues
// of each further worker: read-ahead and allocator
constexpr std::uint64_t kWorkerBytes = 128 << 20;
constexpr std::uint64_t kWaitingWorkers = 2;
constexpr std::uint64_t kWindowCopies = 2;
constexpr std::uint64_t kEmptyStoreBytes = 84 << 10;  // the store's own pages

// The material of an AND: columns, and bytes besides the bits. For aANDs, aOTs and aBits a party
// holds as many columns of the peer's as of its own; for triples, a share of the MAC of each bit.
struct MaterialOfAnd {
  std::uint64_t columns;
  std::uint64_t block_bytes;
};
MaterialOfAnd material_of_and(AndMaterial form) {
  switch (form) {
    case AndMaterial::Triples:
      return {3, offline::kTripleBytes};
    case AndMaterial::Garbling:  // three columns of the full triple, and the mask of the result
      return {4, 4 * offline::kBitBytes};
    case AndMaterial::AandAot:
      break;
  }
  return {8, 8 * offline::kBitBytes};
}
MaterialOfAnd material_of_and(const offline::SecurityParameters& params) {
  return material_of_and(params.material());
}

// Material that waits to be written during the next unit.
std::uint64_t waiting_bytes(const offline::SecurityParameters& params, std::uint64_t units,
                            std::uint64_t ands) {
  if (params.entry().pours_own_memory && units == 1) return 0;
  return std::min(material::kWaitingBytes, material_of_and(params).block_bytes * ands);
}

// What a worker holds of batches or chunks whose answers take `latency`, beyond what it holds
// anyway: strings, and what waits to be sent or read.
std::uint64_t window_bytes(const offline::SecurityParameters& params,
                           std::chrono::nanoseconds latency) {
  const offline::PipelineDepth depth(latency);
  const offline::StageCost piece = params.entry().cost_of_piece(params);
  return kWindowCopies * (depth.depth(piece) - piece.depth) * piece.bytes;
}

// The layers of units that wait for messages.
std::uint64_t waiting_units_bytes(const offline::SecurityParameters& params, const UnitPlan& unit,
                                  std::size_t waiting) {
  if (waiting == 0) return 0;
  const std::uint64_t of_layer = params.entry().layer_bytes(params, unit.ands);
  return std::clamp<std::uint64_t>(offline::kWaitingLayersBytes / of_layer, waiting,
                                   waiting * params.entry().leaky_per_and(unit.bucket)) *
         of_layer;
}

}  // namespace

std::uint64_t bytes_on_disk(AndMaterial form, std::uint64_t ands, std::uint64_t inputs) {
  const MaterialOfAnd material = material_of_and(form);
  return material.block_bytes * ands + inputs * offline::kBitBytes +
         bytes_for(material.columns * ands + inputs) + kEmptyStoreBytes;
}

Estimate estimate_job(const offline::SecurityParameters& open, std::uint64_t ands,
                      std::uint64_t inputs, std::uint64_t threads, const net::LinkShape& link) {
  const offline::SecurityParameters params =
      open.fitted_to(rate_for_fit(ands, link.bits_per_s) / static_cast<double>(threads));
  const auto plans = params.plan(ands);
  Estimate job{.ands = ands, .inputs = inputs, .unit = params.unit(), .bucket = params.bucket()};
  job.sigma_paper_bound = job.sigma_exact = std::numeric_limits<double>::infinity();
  if (plans.empty()) return job;
  const offline::ProfileEntry& profile = params.entry();
  job.base_ots = profile.base_ots(params);
  std::vector<offline::UnitRequest> requests;
  std::uint64_t first = 0, memory = 0;
  for (const UnitPlan& plan : plans) {
    requests.push_back({plan, inputs_of_unit(inputs, ands, first, plan.ands)});
    const offline::UnitCost unit = profile.cost_of_unit(params, requests.back());
    ++job.units;
    job.bytes_sent += unit.bytes_sent;
    memory = std::max(memory, unit.memory_bytes);
    job.sigma_paper_bound =
        std::min(job.sigma_paper_bound, params.bound_bits(plan.ands, plan.bucket));
    job.sigma_exact = std::min(job.sigma_exact, params.exact_bits(plan.ands, plan.bucket));
    first += plan.ands;
  }
  job.disk_bytes = bytes_on_disk(params.material(), ands, inputs);
  // Uncommitted material takes memory twice: as poured batches and as dirty pages.
  const std::uint64_t workers = std::min(threads, job.units);
  job.memory_bytes = memory * workers + kProgramBytes + (workers - 1) * kWorkerBytes +
                     2 * std::min(storage::kCommitBytes, job.disk_bytes) +
                     waiting_bytes(params, job.units, std::min(ands, params.unit()));
  const std::size_t waiting = waiting_workers(params, ands, threads, link.rtt / 2);
  job.memory_bytes += window_bytes(params, link.rtt / 2) * (workers + waiting) +
                      waiting_units_bytes(params, plans.front(), waiting);
  job.units_in_flight = workers + waiting;
  job.bytes_sent += profile.shared_bytes(params, requests, job.units_in_flight);
  job.round_trips_of_unit = profile.round_trips_of_unit(params);
  job.round_trips_of_set_up = profile.round_trips_of_set_up(params, job.units);
  return job;
}

std::size_t waiting_workers(const offline::SecurityParameters& params, std::uint64_t ands,
                            std::uint64_t threads, std::chrono::nanoseconds latency) {
  if (params.entry().layer_bytes == nullptr || latency < kLongLatency) return 0;
  const std::vector<UnitPlan> plans = params.plan(ands);
  // Several threads take layers in different orders at the two parties, so that there must be room
  // for all layers of their units; one thread takes them in order.
  const std::uint64_t layers =
      threads == 1 ? 1 : params.entry().leaky_per_and(plans.front().bucket);
  const std::uint64_t of_unit = layers * params.entry().layer_bytes(params, plans.front().ands),
                      in_flight =
                          std::min<std::uint64_t>(plans.size(), offline::Preprocessor::kWorkersMax);
  return std::min({kWaitingWorkers, offline::kWaitingLayersBytes / of_unit,
                   in_flight - std::min(threads, in_flight)});
}

std::uint64_t inputs_of_unit(std::uint64_t inputs, std::uint64_t ands, std::uint64_t first,
                             std::uint64_t count) {
  const auto share = [&](std::uint64_t upto) {
    return static_cast<std::uint64_t>(static_cast<Wide>(inputs) * upto /
                                      std::max<std::uint64_t>(ands, 1));
  };
  return share(first + count) - share(first);
}

}  // namespace tinyot::engine
