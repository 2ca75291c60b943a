#include "engine/store_info.h"

#include "base/hex.h"
#include "engine/connection.h"
#include "engine/plan.h"
#include "engine/top_up.h"
#include "offline/unit/unit_maker.h"
#include "storage/inventory.h"

namespace tinyot::engine {

Security security_reached(const storage::Manifest& manifest,
                          const storage::AttemptTotals& attempts) {
  ParameterRequest request = begun_parameters(manifest);
  Security security{.profile = request.profile,
                    .material = *request.material,
                    .own = *request.own,
                    .sigma = manifest.sigma,
                    .sigma_paper_bound = manifest.sigma_paper_bound,
                    .sigma_exact = manifest.sigma_exact,
                    .kappa = offline::free_key_bits(request.profile, *request.material),
                    .bucket = manifest.bucket,
                    .unit = manifest.unit,
                    .units = {},
                    .outstanding = attempts.outstanding,
                    .risk = as_double(attempts.risk)};
  request.weak_allowed = true;
  const offline::SecurityParameters params = offline::SecurityParameters::make(request);
  security.risk_limit = as_double(params.risk_limit());
  for (const auto& [plan, count] : attempts.units)
    security.units.push_back({plan.ands, plan.bucket, count,
                              params.bound_bits(plan.ands, plan.bucket),
                              params.exact_bits(plan.ands, plan.bucket)});
  return security;
}

StoreInfo info_of(const storage::Store& store) {
  const storage::Inventory inventory = storage::take_inventory(store);
  const storage::Manifest& manifest = inventory.manifest;
  StoreInfo info{.session = hex_of(session_id_of(manifest)),
                 .party = manifest.me,
                 .peer = manifest.peer,
                 .state = manifest.state,
                 .revocation_reason = manifest.revocation_reason,
                 .keys_are_gone = inventory.keys_are_gone,
                 .protection = inventory.protection,
                 .security = security_reached(manifest, inventory.attempts),
                 .shard = manifest.shard,
                 .shards = manifest.shards,
                 .ands_requested = manifest.ands_requested,
                 .units_made = manifest.units_made,
                 .kinds = inventory.kinds,
                 .reservations = {},
                 .bytes = inventory.store_bytes};
  for (const storage::PlannedReservation& planned : inventory.planned)
    info.reservations.push_back(planned.id);
  const Demand left = capacity_of(store.left(), info.security.material);
  info.ands_left = left.ands;
  info.inputs_left = left.inputs;
  return info;
}

}  // namespace tinyot::engine
