#include "engine/estimate.h"

#include <algorithm>
#include <limits>

#include "base/block.h"
#include "engine/connection.h"
#include "offline/fast_unit.h"
#include "offline/nnob12_unit.h"
#include "offline/object_chunks.h"
#include "storage/record.h"

namespace tinyot::engine {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t kHeader = 16;  // of a message
constexpr std::uint64_t kEqBytes =
    64 + 2 * kHeader;  // of an EQ, sent by A; B sends one header less
// of a bit of each party, without the bit itself
constexpr std::uint64_t kBitBytes = sizeof(Mac) + sizeof(Key);
// SoftSpoken's rows and messages in flight
constexpr std::uint64_t kBatchesBytes = 8 << 20;
constexpr std::uint64_t kProgramBytes = 64 << 20;  // code, libraries, socket queues
// of each further worker: read-ahead and allocator
constexpr std::uint64_t kWorkerBytes = 128 << 20;
constexpr std::uint64_t kWaitingWorkers = 2;
// Round trips in which a unit waits for its peer, and those of the set-up: measured, as tests do.
constexpr double kFastRoundTrips = 10, kFastSetUpRoundTrips = 3;
constexpr double kNnob12RoundTrips = 10.5, kNnob12SetUpRoundTrips = 4;
constexpr std::uint64_t kWindowCopies = 2;
constexpr std::uint64_t kEmptyStoreBytes = 84 << 10;  // the store's own pages

std::uint64_t leaky_bytes(std::uint64_t objects) {
  const std::uint64_t chunks = (objects + offline::kChunkObjects - 1) / offline::kChunkObjects,
                      bits = bytes_for(objects);
  // d, U
  const std::uint64_t ands = bits + 16 * objects + chunks * 2 * kHeader;
  // X_0, X_1, d, I_0, I_1
  const std::uint64_t ots = 2 * (bits + 32 * objects) + bits + 32 * objects + chunks * 9 * kHeader;
  return ands + ots;
}

// The material of an AND: columns, and bytes besides the bits. For aANDs, aOTs and aBits a party
// holds as many columns of the peer's as of its own; for triples, a share of the MAC of each bit.
struct AndMaterial {
  std::uint64_t columns;
  std::uint64_t block_bytes;
};
AndMaterial material_of_and(MaterialForm form) {
  return form == MaterialForm::Triples ? AndMaterial{3, 3 * sizeof(MacShare)}
                                       : AndMaterial{8, 8 * kBitBytes};
}
AndMaterial material_of_and(const SecurityParameters& params) {
  return material_of_and(params.material());
}

// LaBit, its check and R.
std::uint64_t run_bytes(const SecurityParameters& params, std::uint64_t length) {
  const std::uint64_t columns =
      params.columns_made() * length / 8 + offline::chunks_of(length).size() * kHeader;
  const std::uint64_t check = 32 + bytes_for(params.columns_kept()) + 2 * kHeader + kEqBytes;
  return columns + check + 128 * BitMatrix(0, params.columns_kept()).row_words() * 8 + kHeader;
}

std::uint64_t delta_check_bytes() {
  return bytes_for(offline::kReferenceBits) + kHeader + kEqBytes;
}

std::uint64_t chunks_in(std::uint64_t total, std::uint64_t chunk) {
  return (total + chunk - 1) / chunk;
}

UnitEstimate estimate_nnob12(const SecurityParameters& params,
                             const offline::UnitRequest& request) {
  const std::uint64_t tau = params.columns_kept(), t = params.columns_made(),
                      ands = request.plan.ands;
  const std::uint64_t length =
      offline::RunLayout(params, offline::UnitLayout(request).end(), 1).length;
  const std::uint64_t leaky = ands * request.plan.bucket;

  UnitEstimate estimate;
  const std::uint64_t combiners =
      2 * (32 + kHeader) + 2 * (bytes_for((request.plan.bucket - 1) * ands) + kHeader);
  estimate.bytes_sent = run_bytes(params, length) + delta_check_bytes() + leaky_bytes(leaky) +
                        kEqBytes + combiners + 32 + kHeader;

  const std::uint64_t bits = length * kBitBytes + 2 * bytes_for(length);
  const std::uint64_t permutations = 4 * leaky * sizeof(std::uint32_t);
  const std::uint64_t keys = 3 * t * sizeof(crypto::AesKey),
                      chunk = (2 * t + 2 * tau) * offline::kChunkBits / 8;
  estimate.memory_bytes =
      bits + std::max(permutations + 4 * bytes_for((request.plan.bucket - 1) * ands), keys + chunk);
  if (params.material() == MaterialForm::Triples) {
    estimate.bytes_sent +=
        bytes_for(3 * ands) + 2 * chunks_in(ands, offline::kChunkObjects) * kHeader;
    estimate.memory_bytes += ands * material_of_and(params).block_bytes + 3 * bytes_for(ands);
  }
  return estimate;
}

// Corrections, challenge and answer for bits in batches of at most `batch`.
std::uint64_t softspoken_bytes(const SecurityParameters& params, std::uint64_t bits,
                               std::uint64_t batch) {
  const std::uint64_t batches = chunks_in(bits, batch), trees = kKappa / params.softspoken_k();
  return (trees - 1) * (bits + batches * kKappa) / 8 +
         batches * (sizeof(crypto::PublicSeed) + (1 + kKappa) * sizeof(Block) + 3 * kHeader);
}

UnitEstimate estimate_fast(const SecurityParameters& params, const offline::UnitRequest& request) {
  const std::uint64_t l = params.population(request.plan.ands),
                      plain = whole_blocks(request.inputs) + offline::kReferenceBits;
  const std::uint64_t bucket = request.plan.bucket, leaky = bucket * l;
  const std::uint64_t pieces = bucket * chunks_in(l, offline::kBatchTriples),
                      folds = chunks_in(l, offline::kFoldTriples);
  UnitEstimate estimate;
  // The bits for inputs and for the Delta-consistency check; coin toss, EQ and transcript.
  estimate.bytes_sent = softspoken_bytes(params, plain, offline::kBatchBits) + delta_check_bytes() +
                        kEqBytes + 3 * 32 + 2 * kHeader + 32 + 2 * kHeader + 16;
  estimate.memory_bytes = plain * kBitBytes + 2 * bytes_for(plain) + kBatchesBytes;
  estimate.bytes_sent += bucket * softspoken_bytes(params, 3 * l, 3 * offline::kBatchTriples);
  estimate.bytes_sent += leaky * sizeof(Block) + leaky / 8 + 2 * pieces * kHeader;  // G, d
  estimate.bytes_sent += (leaky - l) / 8 + folds * kHeader;  // the combiner bits
  estimate.memory_bytes += bucket * offline::layer_bytes(l);
  return estimate;
}

// Material that waits to be written during the next unit.
std::uint64_t waiting_bytes(const SecurityParameters& params, std::uint64_t units,
                            std::uint64_t ands) {
  if (params.profile() == Profile::Fast && units == 1) return 0;
  return std::min(material::kWaitingBytes, material_of_and(params).block_bytes * ands);
}

// What a worker holds of batches or chunks whose answers take `latency`, beyond what it holds
// anyway: strings, and what waits to be sent or read.
std::uint64_t window_bytes(const SecurityParameters& params, std::chrono::nanoseconds latency) {
  const offline::Pace pace(latency);
  const offline::PieceCost piece = params.profile() == Profile::Fast
                                       ? offline::cost_of_triples(params.softspoken_k())
                                       : offline::cost_of_columns(params);
  return kWindowCopies * (pace.ahead(piece) - piece.ahead) * piece.bytes;
}

// The layers of units that wait for messages.
std::uint64_t waiting_units_bytes(const SecurityParameters& params, const UnitPlan& unit,
                                  std::size_t waiting) {
  if (waiting == 0) return 0;
  const std::uint64_t of_layer = offline::layer_bytes(params.population(unit.ands));
  return std::clamp<std::uint64_t>(offline::kWaitingLayersBytes / of_layer, waiting,
                                   waiting * unit.bucket) *
         of_layer;
}

// Bytes that are sent once: base OTs; then the run that makes the base OTs of later runs, or the
// trees and the first reference bits.
std::uint64_t set_up_bytes(const SecurityParameters& params, std::size_t units) {
  if (params.profile() == Profile::Nnob12) {
    const std::uint64_t seeds = 96 * params.columns_made() + 2 * kHeader;
    return units > 1 ? seeds + run_bytes(params, offline::RunLayout(
                                                     params, 0,
                                                     std::min(units, offline::AuthBitMaker::kLanes))
                                                     .length)
                     : seeds;
  }
  const std::uint64_t k = params.softspoken_k(), trees = kKappa / k;
  return 96 * kKappa + trees * 2 * (k - 1) * sizeof(Block) + trees * 2 * sizeof(crypto::Digest) +
         4 * kHeader + softspoken_bytes(params, offline::kReferenceBits, offline::kReferenceBits);
}

}  // namespace

UnitEstimate estimate_unit(const SecurityParameters& params, const offline::UnitRequest& request) {
  return params.profile() == Profile::Fast ? estimate_fast(params, request)
                                           : estimate_nnob12(params, request);
}

std::uint64_t bytes_on_disk(MaterialForm form, std::uint64_t ands, std::uint64_t inputs) {
  const AndMaterial material = material_of_and(form);
  return material.block_bytes * ands + inputs * kBitBytes +
         bytes_for(material.columns * ands + inputs) + kEmptyStoreBytes;
}

JobEstimate estimate_job(const SecurityParameters& params, std::uint64_t ands, std::uint64_t inputs,
                         std::uint64_t threads, const net::LinkShape& link) {
  const auto plans = params.plan(ands);
  JobEstimate job;
  job.paper_bound_bits = job.exact_bound_bits = std::numeric_limits<double>::infinity();
  if (plans.empty()) return job;
  job.base_ots = params.profile() == Profile::Fast ? kKappa : params.columns_made();
  job.bytes_sent = set_up_bytes(params, plans.size());
  std::uint64_t first = 0, memory = 0;
  for (const UnitPlan& plan : plans) {
    const UnitEstimate unit =
        estimate_unit(params, {plan, inputs_of_unit(inputs, ands, first, plan.ands)});
    ++job.units;
    job.bytes_sent += unit.bytes_sent;
    memory = std::max(memory, unit.memory_bytes);
    job.paper_bound_bits =
        std::min(job.paper_bound_bits, params.bound_bits(plan.ands, plan.bucket));
    job.exact_bound_bits =
        std::min(job.exact_bound_bits, params.exact_bits(plan.ands, plan.bucket));
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
  const bool is_fast = params.profile() == Profile::Fast,
             has_triples = is_fast || params.material() == MaterialForm::Triples;
  job.round_trips_of_unit = is_fast ? kFastRoundTrips : kNnob12RoundTrips + (has_triples ? 0.5 : 0);
  job.round_trips_of_set_up = is_fast         ? kFastSetUpRoundTrips
                              : job.units > 1 ? kNnob12SetUpRoundTrips
                                              : 0;
  return job;
}

std::size_t waiting_workers(const SecurityParameters& params, std::uint64_t ands,
                            std::uint64_t threads, std::chrono::nanoseconds latency) {
  if (params.profile() != Profile::Fast || latency < kLongLatency) return 0;
  const std::vector<UnitPlan> plans = params.plan(ands);
  // Several threads take layers in different orders at the two parties, so that there must be room
  // for all layers of their units; one thread takes them in order.
  const std::uint64_t layers = threads == 1 ? 1 : plans.front().bucket;
  const std::uint64_t of_unit =
                          layers * offline::layer_bytes(params.population(plans.front().ands)),
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
