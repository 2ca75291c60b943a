#include "offline/triples/fast_profile.h"

#include <array>

#include "base/bounds.h"
#include "base/error.h"
#include "offline/parameters.h"
#include "offline/silent/silent_chains.h"
#include "offline/silent/silent_cost.h"
#include "offline/softspoken/softspoken_cost.h"
#include "offline/triples/fast_unit.h"
#include "offline/triples/leaky_triple.h"
#include "offline/unit/cost.h"
#include "offline/unit/unit_maker.h"

namespace tinyot::offline {
namespace {

constexpr std::array kMaterials = {AndMaterial::Triples, AndMaterial::Garbling};
// SoftSpoken's rows and messages in flight.
constexpr std::uint64_t kBatchesBytes = 8 << 20;

// A triple takes 122 bytes each way with k = 2 and 0.15 us, 86 bytes with k = 4 and 0.17 us, both
// of a core with VAES.
constexpr std::uint32_t kOfFastLinks = 2, kOfSlowLinks = 4;
constexpr double kSlowLinkBitsPerS = 5e9;

constexpr std::array<ProfileParameters, 3> kCompared = {
    FastParameters{.softspoken_k = kOfFastLinks}, FastParameters{.softspoken_k = 4},
    FastParameters{.abits = BitsFrom::Silent}};
constexpr std::array<std::string_view, 3> kParameters = {"softspoken-k", "abits", "silent-set"};

// The value of softspoken-k that is left to the link.
constexpr std::string_view kByTheLink = "auto";

BitsFrom bits_in(const NamedValue& given) {
  for (const BitsFrom bits : {BitsFrom::SoftSpoken, BitsFrom::Silent})
    if (given.value == name_of(bits)) return bits;
  throw UsageError(given.name + " '" + given.value + "' is neither softspoken nor silent");
}

void set_parameter(FastParameters& own, const NamedValue& to) {
  if (to.name == "softspoken-k") {
    own.softspoken_k = to.value == kByTheLink ? std::nullopt : std::optional(softspoken_k_in(to));
  } else if (to.name == "abits") {
    own.abits = bits_in(to);
  } else {
    if (own.abits != BitsFrom::Silent)
      throw UsageError("silent-set " + to.value + " requires abits silent");
    own.silent_set = lpn_set_named(to.value);
  }
}

std::vector<NamedValue> named_parameters(const FastParameters& own) {
  std::vector<NamedValue> named = {
      {"softspoken-k",
       own.softspoken_k ? std::to_string(*own.softspoken_k) : std::string(kByTheLink)},
      {"abits", std::string(name_of(own.abits))}};
  if (own.abits == BitsFrom::Silent)
    named.push_back({"silent-set", std::string(name_of(own.silent_set))});
  return named;
}

const FastParameters& own_of(const SecurityParameters& params) {
  return params.own<FastParameters>();
}
std::uint32_t softspoken_k(const SecurityParameters& params) {
  return own_of(params).softspoken_k.value_or(kOfFastLinks);
}
// Few of the silent bits' bytes depend on it.
FastParameters fitted(FastParameters own, double bits_per_s) {
  const bool is_slow = own.abits == BitsFrom::SoftSpoken && bits_per_s < kSlowLinkBitsPerS;
  own.softspoken_k = own.softspoken_k.value_or(is_slow ? kOfSlowLinks : kOfFastLinks);
  return own;
}
const SilentSet& silent_set_of(const SecurityParameters& params) {
  return silent_set(own_of(params).silent_set);
}
bool is_silent(const SecurityParameters& params) {
  return own_of(params).abits == BitsFrom::Silent;
}

// What a unit takes of the bits: those for inputs and those for layers of l triples, without the
// bits of the Delta-consistency check.
struct UnitBits {
  std::uint64_t plain, of_layer;
};
UnitBits bits_of(const SecurityParameters& params, const UnitRequest& made) {
  const UnitRequest request = with_result_masks(made, params.material());
  return {whole_blocks(request.inputs), 3 * params.population(request.plan.ands)};
}

UnitCost cost_of_unit_of_layers(const SecurityParameters& params, const UnitRequest& request) {
  const UnitBits bits = bits_of(params, request);
  const std::uint64_t l = bits.of_layer / 3, bucket = request.plan.bucket.only(),
                      leaky = bucket * l;
  const std::uint64_t pieces = bucket * chunks_in(l, kBatchTriples),
                      folds = chunks_in(l, kFoldTriples);
  UnitCost cost;
  cost.bytes_sent = kEqBytes + kCoinTossBytes + kUnitFrameBytes;
  std::uint64_t plain = bits.plain;
  if (is_silent(params)) {
    cost.memory_bytes = chain_memory_bytes(silent_set_of(params));
  } else {
    // The bits for inputs and for the Delta-consistency check; then those of the layers.
    plain += kReferenceBits;
    const std::uint32_t k = softspoken_k(params);
    cost.bytes_sent += softspoken_bytes(k, plain, kBatchBits) + delta_check_bytes() +
                       bucket * softspoken_bytes(k, bits.of_layer, 3 * kBatchTriples);
    cost.memory_bytes = kBatchesBytes;
  }
  cost.bytes_sent += leaky * sizeof(Block) + leaky / 8 + 2 * pieces * kHeaderBytes;  // G, d
  cost.bytes_sent += (leaky - l) / 8 + folds * kHeaderBytes;  // the combiner bits
  cost.memory_bytes += plain * kBitBytes + 2 * bytes_for(plain) + bucket * layer_bytes(l);
  return cost;
}

// Base OTs, trees and the first reference bits; and the chains of silent bits.
std::uint64_t shared_bytes(const SecurityParameters& params, std::span<const UnitRequest> units,
                           std::size_t workers) {
  const std::uint64_t set_up = softspoken_set_up_bytes(softspoken_k(params), params.base_ot());
  if (!is_silent(params)) return set_up;
  std::vector<std::uint64_t> draws;
  for (const UnitRequest& unit : units) {
    const UnitBits bits = bits_of(params, unit);
    draws.push_back(bits.plain + unit.plan.bucket.only() * bits.of_layer);
  }
  return set_up + chains_bytes(silent_set_of(params), softspoken_k(params), draws, workers);
}

std::unique_ptr<BitSource> make_source(checks::Session& session, const SecurityParameters& params,
                                       const LinkSchedule& schedule) {
  if (is_silent(params))
    return std::make_unique<SilentChains>(session, softspoken_k(params), silent_set_of(params),
                                          schedule.depth, schedule.workers);
  return std::make_unique<SoftSpokenSource>(session, softspoken_k(params), schedule.depth);
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
    .compared = kCompared,
    .parameters = kParameters,
    .fitted = [](const ProfileParameters& own, double bits_per_s) -> ProfileParameters {
      return fitted(std::get<FastParameters>(own), bits_per_s);
    },
    .named =
        [](const ProfileParameters& own) {
          return named_parameters(std::get<FastParameters>(own));
        },
    .set = [](ProfileParameters& own,
              const NamedValue& to) { set_parameter(std::get<FastParameters>(own), to); },
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
      return std::make_unique<FastUnitMaker>(params, schedule,
                                             make_source(session, params, schedule));
    },
    .cost_of_unit = cost_of_unit_of_layers,
    .cost_of_piece =
        [](const SecurityParameters& params) {
          return cost_of_triples(is_silent(params) ? kCostOfDraw
                                                   : cost_of_batch(softspoken_k(params)));
        },
    .base_ots = [](const SecurityParameters&) -> std::uint64_t { return kKappa; },
    .shared_bytes = shared_bytes,
    .round_trips_of_unit = [](const SecurityParameters&) { return 10.0; },
    .round_trips_of_set_up = [](const SecurityParameters& params,
                                std::size_t) { return is_silent(params) ? 10.5 : 3.0; },
    .layer_bytes = [](const SecurityParameters& params,
                      std::uint64_t ands) { return layer_bytes(params.population(ands)); },
    .pours_own_memory = true,
    .sends_throughout = true,
    .speed = 8,
};

}  // namespace tinyot::offline
