#include "offline/nnob12/nnob12_profile.h"

#include <algorithm>
#include <array>

#include "base/bit_matrix.h"
#include "base/bounds.h"
#include "base/error.h"
#include "crypto/aes.h"
#include "offline/base_ot/base_ot.h"
#include "offline/global_key.h"
#include "offline/nnob12/nnob12_unit.h"
#include "offline/nnob12/object_chunks.h"
#include "offline/parameters.h"
#include "offline/unit/cost.h"
#include "offline/unit/preprocessor.h"

namespace tinyot::offline {
namespace {

// A run waits for one that many before it, which no worker may be waiting to make.
static_assert(Preprocessor::kWorkersMax <= AuthBitSource::kLanes);

constexpr std::array kMaterials = {AndMaterial::AandAot, AndMaterial::Triples,
                                   AndMaterial::Garbling};

constexpr std::array<ProfileParameters, 1> kCompared = {Nnob12Parameters{}};
constexpr std::array<std::string_view, 1> kParameters = {"columns"};

Columns columns_in(const NamedValue& given) {
  for (const Columns columns : {Columns::Theorem, Columns::Experiment})
    if (given.value == name_of(columns)) return columns;
  throw UsageError(given.name + " '" + given.value + "' is neither theorem nor experiment");
}

std::uint64_t leaky_bytes(std::uint64_t objects) {
  const std::uint64_t chunks = chunks_in(objects, kChunkObjects), bits = bytes_for(objects);
  // d, U
  const std::uint64_t ands = bits + 16 * objects + chunks * 2 * kHeaderBytes;
  // X_0, X_1, d, I_0, I_1
  const std::uint64_t ots =
      2 * (bits + 32 * objects) + bits + 32 * objects + chunks * 9 * kHeaderBytes;
  return ands + ots;
}

// LaBit, its check and R.
std::uint64_t run_bytes(const SecurityParameters& params, std::uint64_t length) {
  const std::uint64_t columns =
      columns_made(params) * length / 8 + chunks_of(length).size() * kHeaderBytes;
  const std::uint64_t check = 32 + bytes_for(columns_kept(params)) + 2 * kHeaderBytes + kEqBytes;
  return columns + check + 128 * BitMatrix(0, columns_kept(params)).row_words() * 8 + kHeaderBytes;
}

UnitCost cost_of_unit(const SecurityParameters& params, const UnitRequest& made) {
  const UnitRequest request = with_result_masks(made, params.material());
  const std::uint64_t tau = columns_kept(params), t = columns_made(params),
                      ands = request.plan.ands;
  const std::uint64_t length = RunLayout(params, UnitLayout(request).end(), 1).length;
  const std::uint64_t bucket = request.plan.bucket.only(), leaky = ands * bucket;

  UnitCost cost;
  const std::uint64_t combiners =
      2 * (32 + kHeaderBytes) + 2 * (bytes_for((bucket - 1) * ands) + kHeaderBytes);
  cost.bytes_sent = run_bytes(params, length) + delta_check_bytes() + leaky_bytes(leaky) +
                    kEqBytes + combiners + 32 + kHeaderBytes;

  const std::uint64_t bits = length * kBitBytes + 2 * bytes_for(length);
  const std::uint64_t permutations = 4 * leaky * sizeof(std::uint32_t);
  const std::uint64_t keys = 3 * t * sizeof(crypto::AesKey),
                      chunk = (2 * t + 2 * tau) * kChunkBits / 8;
  cost.memory_bytes =
      bits + std::max(permutations + 4 * bytes_for((bucket - 1) * ands), keys + chunk);
  if (params.material() != AndMaterial::AandAot) {
    cost.bytes_sent += bytes_for(3 * ands) + 2 * chunks_in(ands, kChunkObjects) * kHeaderBytes;
    cost.memory_bytes +=
        ands * (params.material() == AndMaterial::Triples ? kTripleBytes : 3 * kBitBytes) +
        3 * bytes_for(ands);
  }
  return cost;
}

// Base OTs; then the run that makes the base OTs of later runs.
std::uint64_t shared_bytes(const SecurityParameters& params, std::span<const UnitRequest> units,
                           std::size_t) {
  const std::uint64_t base_ots =
      base_ot_bytes(params.base_ot()) * columns_made(params) + 2 * kHeaderBytes;
  if (units.size() <= 1) return base_ots;
  const std::size_t lanes = std::min(units.size(), AuthBitSource::kLanes);
  return base_ots + run_bytes(params, RunLayout(params, 0, lanes).length);
}

}  // namespace

const ProfileEntry kNnob12Profile = {
    .profile = Profile::Nnob12,
    .name = "nnob12",
    .usual_unit = std::uint64_t{1} << 18,
    .live_unit = std::nullopt,
    .materials = kMaterials,
    .own = Nnob12Parameters{},
    .fastest = Nnob12Parameters{Columns::Experiment},
    .compared = kCompared,
    .parameters = kParameters,
    .named = [](const ProfileParameters& own) -> std::vector<NamedValue> {
      return {{"columns", std::string(name_of(std::get<Nnob12Parameters>(own).columns))}};
    },
    .set = [](ProfileParameters& own,
              const NamedValue& to) { std::get<Nnob12Parameters>(own).columns = columns_in(to); },
    .least_bucket = 2,
    .larger_bucket = one_larger,
    .leaky_per_and = as_many_as_bucket,
    .population = [](std::uint64_t ands) { return ands; },
    .bound_bits = on_one_level<paper_bound_bits>,
    .exact_bits = on_one_level<exact_bound_bits>,
    .risk = on_one_level<risk_of_permutation>,
    .fitted_key =
        [](Delta key, Party me, AndMaterial form) {
          return form == AndMaterial::Garbling ? fitted_to_triples(key, me) : key;
        },
    .make_unit_maker = [](checks::Session& session, const SecurityParameters& params,
                          const LinkSchedule& schedule) -> std::unique_ptr<UnitMaker> {
      return std::make_unique<Nnob12UnitMaker>(session, params, schedule.depth);
    },
    .cost_of_unit = cost_of_unit,
    .cost_of_piece = cost_of_columns,
    .base_ots = [](const SecurityParameters& params) -> std::uint64_t {
      return columns_made(params);
    },
    .shared_bytes = shared_bytes,
    .round_trips_of_unit =
        [](const SecurityParameters& params) {
          return params.material() == AndMaterial::AandAot ? 10.5 : 11.0;
        },
    .round_trips_of_set_up = [](const SecurityParameters&,
                                std::size_t units) { return units > 1 ? 4.0 : 0.0; },
    .layer_bytes = nullptr,
    .pours_own_memory = false,
    .sends_throughout = false,
    .speed = 1,
};

}  // namespace tinyot::offline
