#include "engine/plan.h"

#include <cstring>

#include "base/error.h"
#include "engine/base_ot_choice.h"
#include "engine/connection.h"
#include "engine/endpoint.h"
#include "engine/unit_size.h"
#include "offline/silent/parameter_sets.h"

namespace tinyot::engine {
namespace {

constexpr std::uint64_t kUnitsMax = std::uint64_t{1} << 20;

// What a store names may be known to a later version only.
template <class Parse>
auto as_begun(const Parse& parse) {
  try {
    return parse();
  } catch (const UsageError& error) {
    throw StoreError("the store was begun with what this program does not know: " +
                     std::string(error.what()));
  }
}

void check_same(const std::string& begun, const char* what, const std::string& stored,
                const std::string& requested, Remedy remedy = Remedy::None) {
  if (stored != requested)
    throw StoreError(begun + " was begun with " + what + " " + stored + ", not " + requested +
                         "; use the same value, or begin a new one",
                     remedy);
}

// "1024", "1024 more", "as many as leave 1024"
std::string amount_text(Amount amount, std::uint64_t count) {
  return (amount == Amount::Left ? "as many as leave " : "") + std::to_string(count) +
         (amount == Amount::More ? " more" : "");
}

}  // namespace

ParameterRequest begun_parameters(const storage::Manifest& manifest) {
  ParameterRequest parameters;
  parameters.profile = as_begun([&] { return profile_named(manifest.profile); });
  parameters.material = as_begun([&] { return material_named(manifest.material); });
  parameters.own = as_begun([&] { return own_parameters(parameters.profile, manifest.own); });
  parameters.sigma = manifest.sigma;
  parameters.unit = manifest.unit;
  parameters.bucket = manifest.bucket;
  parameters.shards = manifest.shards;
  return parameters;
}

PreprocessRequest last_job(PreprocessRequest request, const storage::Manifest& manifest) {
  const ParameterRequest wanted = request.parameters;
  request.parameters = begun_parameters(manifest);
  request.parameters.workers = wanted.workers;
  request.parameters.weak_allowed = wanted.weak_allowed;
  request.parameters.base_ot = wanted.base_ot;
  request.amount = Amount::Total;
  request.ands = manifest.ands_requested - manifest.ands_before;
  request.inputs = manifest.inputs_requested.value_or(inputs_of(request));
  return request;
}

PreprocessRequest resolve(PreprocessRequest job, const storage::Manifest* existing) {
  ParameterRequest& request = job.parameters;
  offline::require_in_use(request);
  request.workers = static_cast<std::uint32_t>(job.threads);
  request.shards = job.shards;
  if (existing != nullptr && job.amount == Amount::Total && job.ands == 0) {
    job.ands = existing->ands_requested;
    job.inputs = existing->inputs_requested.value_or(inputs_of(job));
  }
  if (existing != nullptr && job.amount == Amount::Total &&
      existing->profile == name_of(request.profile) && existing->sigma == request.sigma) {
    if (!request.unit) request.unit = existing->unit;
    if (!request.bucket && request.unit == existing->unit) request.bucket = existing->bucket;
  }
  const std::uint64_t ands = request.unit ? job.ands : (job.ands + job.shards - 1) / job.shards;
  request.unit = choose_unit(request, ands, inputs_of(job) / job.shards, job.memory_bytes);
  const std::uint64_t unit = offline::SecurityParameters::make(request).unit();
  if (job.ands / unit >= kUnitsMax)
    throw UsageError(std::to_string(job.ands) + " ANDs in units of " + std::to_string(unit) +
                     " would be more than 2^20 units: use larger units");
  if (job.shards > (job.ands + unit - 1) / unit)
    throw UsageError(std::to_string(job.ands) + " ANDs in units of " + std::to_string(unit) +
                     " are fewer units than " + std::to_string(job.shards) +
                     " shards; use smaller units or fewer shards");
  return job;
}

Estimate estimate_of(const PreprocessRequest& request, const net::LinkShape& link) {
  return estimate_job(offline::SecurityParameters::make(request.parameters), request.ands,
                      inputs_of(request), request.threads, link);
}

JobPlan::JobPlan(const PreprocessRequest& resolved)
    : request(resolved), params(offline::SecurityParameters::make(request.parameters)),
      units(requests_of(params, request)), demand(demand_of(units)),
      estimate(estimate_job(params, demand.ands, demand.inputs, request.threads)),
      security(security_of(params, estimate)) {}

std::vector<net::Parameter> parameters_to_agree(const PreprocessRequest& job, const JobPlan& plan,
                                                bool continues) {
  const bool as_begun = continues && job.amount == Amount::Total;
  // The parameters that determine unit and bucket come before them, so that a disagreement names
  // the cause.
  std::vector<net::Parameter> parameters = {
      {"command", "preprocess"},
      {"ands", as_begun ? "as begun" : amount_text(job.amount, job.ands)},
      {"inputs", as_begun ? "as begun" : amount_text(job.amount, inputs_of(job))},
      {"threads", std::to_string(job.threads)},
      {"session file", job.session ? "yes" : "no"},
      {"shard", std::to_string(job.shard) + "/" + std::to_string(job.shards)}};
  for (net::Parameter& parameter : parameters_of(plan.params, plan.security))
    if (!continues || (parameter.name != "unit" && parameter.name != "bucket"))
      parameters.push_back(std::move(parameter));
  return parameters;
}

storage::Manifest new_manifest(const JobPlan& plan, const SessionId& session) {
  const PreprocessRequest& job = plan.request;
  storage::Manifest manifest = plan.security;
  std::memcpy(manifest.session_id.data(), session.bytes.data(), session.bytes.size());
  manifest.me = job.party;
  manifest.peer = options_of(job.endpoint).peer();
  manifest.ands_requested = job.ands;
  manifest.inputs_requested = inputs_of(job);
  manifest.units_requested = plan.units.size();
  manifest.shard = job.shard;
  manifest.shards = job.shards;
  return manifest;
}

std::vector<offline::UnitRequest> requests_of(const offline::SecurityParameters& params,
                                              const PreprocessRequest& job) {
  std::vector<offline::UnitRequest> requests;
  std::uint64_t first = 0;
  for (const UnitPlan& plan : params.plan(job.ands)) {
    requests.push_back({plan, inputs_of_unit(inputs_of(job), job.ands, first, plan.ands)});
    first += plan.ands;
  }
  const std::size_t begin = requests.size() * (job.shard - 1) / job.shards,
                    end = requests.size() * job.shard / job.shards;
  return {requests.begin() + static_cast<std::ptrdiff_t>(begin),
          requests.begin() + static_cast<std::ptrdiff_t>(end)};
}

storage::AttemptTotals units_of(std::span<const offline::UnitRequest> requests) {
  storage::AttemptTotals totals;
  for (const offline::UnitRequest& request : requests) {
    if (totals.units.empty() || totals.units.back().plan != request.plan)
      totals.units.push_back({request.plan, 0});
    ++totals.units.back().count;
  }
  return totals;
}

Demand demand_of(std::span<const offline::UnitRequest> requests) {
  Demand demand;
  for (const offline::UnitRequest& request : requests) {
    demand.ands += request.plan.ands;
    demand.inputs += request.inputs;
  }
  return demand;
}

void check_same_amount(const std::string& begun, const storage::Manifest& manifest,
                       const PreprocessRequest& job) {
  if (job.amount != Amount::Total || job.ands == 0) return;
  if (manifest.units_before > 0 && job.ands != manifest.ands_requested)
    throw StoreError(begun + " has been given " + std::to_string(manifest.ands_requested) +
                         " ANDs in all jobs since it was begun, not " + std::to_string(job.ands) +
                         "; to continue its last job, leave the number out",
                     Remedy::AddMaterial);
  check_same(begun, "ands", std::to_string(manifest.ands_requested), std::to_string(job.ands),
             Remedy::AddMaterial);
  if (manifest.inputs_requested && manifest.units_before == 0)
    check_same(begun, "inputs", std::to_string(*manifest.inputs_requested),
               std::to_string(inputs_of(job)));
}

void check_same_parameters(const std::string& begun, const storage::Manifest& manifest,
                           const PreprocessRequest& job, const storage::Manifest& wanted) {
  const auto differ = [&](const char* what, const std::string& stored,
                          const std::string& requested) {
    check_same(begun, what, stored, requested);
  };
  differ("party", std::string(1, letter(manifest.me)), std::string(1, letter(job.party)));
  differ("profile", manifest.profile, wanted.profile);
  differ("material", manifest.material, wanted.material);
  const ParameterRequest stored = begun_parameters(manifest);
  if (const offline::RetiredSet* retired = offline::find_retired(*stored.own))
    throw StoreError(begun + " cannot be filled: " + retired->refusal());
  const std::vector<NamedValue> own = named_values(stored.profile, *stored.own);
  for (std::size_t i = 0; i < own.size(); ++i)
    differ(own[i].name.c_str(), own[i].value, wanted.own[i].value);
  differ("sigma", std::to_string(manifest.sigma), std::to_string(wanted.sigma));
  differ("shards", std::to_string(manifest.shards), std::to_string(job.shards));
  if (job.amount != Amount::Total) return;
  differ("unit", std::to_string(manifest.unit), std::to_string(wanted.unit));
  differ("bucket", manifest.bucket.text(), wanted.bucket.text());
}

std::vector<net::Parameter> parameters_of(const offline::SecurityParameters& params,
                                          const storage::Manifest& security) {
  std::vector<net::Parameter> parameters = {{"profile", security.profile},
                                            {"material", security.material}};
  for (const auto& [name, value] : security.own) parameters.push_back({name, value});
  for (net::Parameter& parameter :
       std::vector<net::Parameter>{{"kappa", std::to_string(kKappa)},
                                   {"sigma", std::to_string(params.sigma())},
                                   {"unit", std::to_string(params.unit())},
                                   {"bucket", params.bucket().text()},
                                   {"allow-weak", params.weak_allowed() ? "yes" : "no"},
                                   base_ot_parameter(params.request().base_ot)})
    parameters.push_back(std::move(parameter));
  return parameters;
}

storage::Manifest security_of(const offline::SecurityParameters& params, const Estimate& estimate) {
  storage::Manifest manifest;
  manifest.profile = name_of(params.profile());
  manifest.material = name_of(params.material());
  manifest.sigma = params.sigma();
  manifest.bucket = params.bucket();
  manifest.unit = params.unit();
  manifest.sigma_paper_bound = estimate.sigma_paper_bound;
  manifest.sigma_exact = estimate.sigma_exact;
  manifest.own = named_values(params.profile(), params.own());
  return manifest;
}

}  // namespace tinyot::engine
