#include "offline/triples/fast_profile.h"

#include <array>
#include <charconv>

#include "base/bounds.h"
#include "base/error.h"
#include "crypto/public_coins.h"
#include "crypto/random_oracle.h"
#include "offline/parameters.h"
#include "offline/softspoken/softspoken_source.h"
#include "offline/triples/fast_unit.h"
#include "offline/triples/leaky_triple.h"
#include "offline/unit/cost.h"
#include "offline/unit/unit_maker.h"

namespace tinyot::offline {
namespace {

constexpr std::array kMaterials = {AndMaterial::Triples, AndMaterial::Garbling};
// SoftSpoken's rows and messages in flight.
constexpr std::uint64_t kBatchesBytes = 8 << 20;

std::uint32_t k_in(const NamedValue& given) {
  std::uint32_t k = 0;
  const char* const end = given.value.data() + given.value.size();
  const auto read = std::from_chars(given.value.data(), end, k);
  if (read.ec != std::errc() || read.ptr != end || !is_tree_depth(k))
    throw UsageError(given.name + " " + given.value + " is not 1, 2 or 4");
  return k;
}

std::uint32_t softspoken_k(const SecurityParameters& params) {
  return params.own<FastParameters>().softspoken_k;
}

// Corrections, challenge and answer for bits in batches of at most `batch`.
std::uint64_t softspoken_bytes(const SecurityParameters& params, std::uint64_t bits,
                               std::uint64_t batch) {
  const std::uint64_t batches = chunks_in(bits, batch), trees = kKappa / softspoken_k(params);
  return (trees - 1) * (bits + batches * kKappa) / 8 +
         batches * (sizeof(crypto::PublicSeed) + (1 + kKappa) * sizeof(Block) + 3 * kHeaderBytes);
}

UnitCost cost_of_unit_of_layers(const SecurityParameters& params, const UnitRequest& made) {
  const UnitRequest request = with_result_masks(made, params.material());
  const std::uint64_t l = params.population(request.plan.ands),
                      plain = whole_blocks(request.inputs) + kReferenceBits;
  const std::uint64_t bucket = request.plan.bucket.only(), leaky = bucket * l;
  const std::uint64_t pieces = bucket * chunks_in(l, kBatchTriples),
                      folds = chunks_in(l, kFoldTriples);
  UnitCost cost;
  // The bits for inputs and for the Delta-consistency check; coin toss, EQ and transcript.
  cost.bytes_sent = softspoken_bytes(params, plain, kBatchBits) + delta_check_bytes() + kEqBytes +
                    3 * 32 + 2 * kHeaderBytes + 32 + 2 * kHeaderBytes + 16;
  cost.memory_bytes = plain * kBitBytes + 2 * bytes_for(plain) + kBatchesBytes;
  cost.bytes_sent += bucket * softspoken_bytes(params, 3 * l, 3 * kBatchTriples);
  cost.bytes_sent += leaky * sizeof(Block) + leaky / 8 + 2 * pieces * kHeaderBytes;  // G, d
  cost.bytes_sent += (leaky - l) / 8 + folds * kHeaderBytes;  // the combiner bits
  cost.memory_bytes += bucket * layer_bytes(l);
  return cost;
}

// Base OTs; then the trees and the first reference bits.
std::uint64_t bytes_of_trees(const SecurityParameters& params, std::size_t) {
  const std::uint64_t k = softspoken_k(params), trees = kKappa / k;
  return 96 * kKappa + trees * 2 * (k - 1) * sizeof(Block) + trees * 2 * sizeof(crypto::Digest) +
         4 * kHeaderBytes + softspoken_bytes(params, kReferenceBits, kReferenceBits);
}

}  // namespace

const ProfileEntry kFastProfile = {
    .profile = Profile::Fast,
    .name = "fast",
    .usual_unit = std::uint64_t{1} << 20,
    // Ready earlier, and leaves more memory to the run.
    .live_unit = std::uint64_t{1} << 19,
    .materials = kMaterials,
    .own = FastParameters{},
    .fastest = FastParameters{},
    .named = [](const ProfileParameters& own) -> std::vector<NamedValue> {
      return {{"softspoken-k", std::to_string(std::get<FastParameters>(own).softspoken_k)}};
    },
    .set = [](ProfileParameters& own,
              const NamedValue& to) { std::get<FastParameters>(own).softspoken_k = k_in(to); },
    .least_bucket = 2,
    .larger_bucket = one_larger,
    .leaky_per_and = as_many_as_bucket,
    .population = [](std::uint64_t ands) -> std::uint64_t { return whole_blocks(ands); },
    .bound_bits = on_one_level<paper_bound_bits>,
    .exact_bits = on_one_level<layers_bound_bits>,
    .risk = on_one_level<risk_of_layers>,
    .fitted_key = [](Delta key, Party me, AndMaterial) { return fitted_to_triples(key, me); },
    .make_unit_maker = [](checks::Session& session, const SecurityParameters& params,
                          const LinkSchedule& schedule) -> std::unique_ptr<UnitMaker> {
      return std::make_unique<FastUnitMaker>(
          params, schedule,
          std::make_unique<SoftSpokenSource>(session, softspoken_k(params), schedule.depth));
    },
    .cost_of_unit = cost_of_unit_of_layers,
    .cost_of_piece =
        [](const SecurityParameters& params) {
          return cost_of_triples(cost_of_batch(softspoken_k(params)));
        },
    .base_ots = [](const SecurityParameters&) -> std::uint64_t { return kKappa; },
    .set_up_bytes = bytes_of_trees,
    .round_trips_of_unit = [](const SecurityParameters&) { return 10.0; },
    .round_trips_of_set_up = [](const SecurityParameters&, std::size_t) { return 3.0; },
    .layer_bytes = [](const SecurityParameters& params,
                      std::uint64_t ands) { return layer_bytes(params.population(ands)); },
    .pours_own_memory = true,
    .speed = 8,
};

}  // namespace tinyot::offline
