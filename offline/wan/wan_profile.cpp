#include "offline/wan/wan_profile.h"

#include <array>

#include "base/bounds.h"
#include "offline/nnob12/object_chunks.h"
#include "offline/parameters.h"
#include "offline/silent/silent_chains.h"
#include "offline/silent/silent_cost.h"
#include "offline/softspoken/softspoken_cost.h"
#include "offline/unit/cost.h"
#include "offline/unit/unit_maker.h"
#include "offline/wan/sacrifice.h"
#include "offline/wan/wan_unit.h"

namespace tinyot::offline {
namespace {

constexpr std::array kMaterials = {AndMaterial::Triples, AndMaterial::Garbling};
constexpr std::array<ProfileParameters, 1> kCompared = {WanParameters{}};
constexpr std::array<std::string_view, 2> kParameters = {"softspoken-k", "silent-set"};

const SilentSet& silent_set_of(const SecurityParameters& params) {
  return silent_set(params.own<WanParameters>().silent_set);
}

std::uint64_t plain_bits(const SecurityParameters& params, const UnitRequest& request) {
  return whole_blocks(with_result_masks(request, params.material()).inputs);
}

// In all sets of a unit of l triples.
std::uint64_t leaky_triples(std::uint64_t l, std::uint32_t bucket) {
  return first_set_size(l, bucket) + (bucket - 1) * further_set_size(l, bucket);
}

UnitCost cost_of_unit_of_sets(const SecurityParameters& params, const UnitRequest& request) {
  const std::uint32_t bucket = request.plan.bucket.only();
  const std::uint64_t l = params.population(request.plan.ands), plain = plain_bits(params, request),
                      first = first_set_size(l, bucket), further = further_set_size(l, bucket),
                      objects = leaky_triples(l, bucket);
  const std::uint64_t pieces = chunks_in(first, kChunkObjects) +
                               (bucket - 1) * chunks_in(further, kChunkObjects),
                      compared = chunks_in(first, kChunkObjects),
                      folded = chunks_in(l, kChunkObjects);
  UnitCost cost;
  cost.bytes_sent = kCoinTossBytes + kUnitFrameBytes;
  cost.bytes_sent += 2 * (objects / 8 + pieces * kHeaderBytes);  // G, d
  cost.bytes_sent += (bucket - 1) * (3 * kOpenedTriples / 8 + kHeaderBytes) +
                     2 * (bucket - 1) * first / 8 + compared * kHeaderBytes + (bucket - 1) * l / 8 +
                     folded * kHeaderBytes;
  cost.memory_bytes = chain_memory_bytes(silent_set_of(params)) + plain * kBitBytes +
                      2 * bytes_for(plain) + objects * kTripleBytes +
                      (bucket - 1) * further * sizeof(std::uint32_t) +
                      6 * kChunkObjects * kBitBytes;
  // x of all layers, y of layer 0, z of all layers.
  if (params.material() == AndMaterial::Garbling)
    cost.memory_bytes += (2 * first + l) * kBitBytes + bytes_for(2 * first + l);
  return cost;
}

std::uint64_t shared_bytes(const SecurityParameters& params, std::span<const UnitRequest> units,
                           std::size_t workers) {
  std::vector<std::uint64_t> draws;
  for (const UnitRequest& unit : units) {
    draws.push_back(plain_bits(params, unit) +
                    3 * leaky_triples(params.population(unit.plan.ands), unit.plan.bucket.only()));
  }
  const std::uint32_t k = params.own<WanParameters>().softspoken_k;
  return softspoken_set_up_bytes(k, params.base_ot()) +
         chains_bytes(silent_set_of(params), k, draws, workers);
}

}  // namespace

const ProfileEntry kWanProfile = {
    .profile = Profile::Wan,
    .name = "wan",
    .usual_unit = std::uint64_t{1} << 20,
    .live_unit = std::nullopt,
    .materials = kMaterials,
    .own = WanParameters{},
    .fastest = WanParameters{},
    .compared = kCompared,
    .parameters = kParameters,
    .named = [](const ProfileParameters& own) -> std::vector<NamedValue> {
      const auto& wan = std::get<WanParameters>(own);
      return {{"softspoken-k", std::to_string(wan.softspoken_k)},
              {"silent-set", std::string(name_of(wan.silent_set))}};
    },
    .set =
        [](ProfileParameters& own, const NamedValue& to) {
          auto& wan = std::get<WanParameters>(own);
          if (to.name == "softspoken-k")
            wan.softspoken_k = softspoken_k_in(to);
          else
            wan.silent_set = lpn_set_named(to.value);
        },
    // With two sets, triples that are wrong in a pattern would pass.
    .least_bucket = 3,
    .larger_bucket = one_larger,
    .leaky_per_and = [](const BucketSizes& bucket) -> std::uint64_t {
      return std::uint64_t{bucket.only()} * bucket.only();
    },
    .population = [](std::uint64_t ands) -> std::uint64_t { return whole_blocks(ands); },
    .bound_bits = on_one_level<paper_bound_bits>,
    .exact_bits = on_one_level<layers_bound_bits>,
    .risk = on_one_level<risk_of_layers>,
    .fitted_key = [](Delta key, Party me, AndMaterial) { return fitted_to_triples(key, me); },
    .make_unit_maker = [](checks::Session& session, const SecurityParameters& params,
                          const LinkSchedule& schedule) -> std::unique_ptr<UnitMaker> {
      return std::make_unique<WanUnitMaker>(
          params, schedule.depth,
          std::make_unique<SilentChains>(session, params.own<WanParameters>().softspoken_k,
                                         silent_set_of(params), schedule.depth, schedule.workers));
    },
    .cost_of_unit = cost_of_unit_of_sets,
    .cost_of_piece = [](const SecurityParameters&) { return kCostOfBitTriples; },
    .base_ots = [](const SecurityParameters&) -> std::uint64_t { return kKappa; },
    .shared_bytes = shared_bytes,
    .round_trips_of_unit = [](const SecurityParameters&) { return 4.0; },
    .round_trips_of_set_up = [](const SecurityParameters&, std::size_t) { return 10.5; },
    .layer_bytes = nullptr,
    .pours_own_memory = true,
    .sends_throughout = true,
    .speed = 2,
};

}  // namespace tinyot::offline
