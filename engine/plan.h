// What a preprocessing job makes, and which of its parameters must match the peer's job and the
// store or session that it continues.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/estimate.h"
#include "net/handshake.h"
#include "offline/unit/unit_maker.h"
#include "storage/manifest.h"
#include "storage/unit_log.h"
#include "tinyot/preprocess.h"

namespace tinyot::engine {

// The request with a unit size and everything that its bucket depends on. If it continues
// `existing`, the values that the session was begun with take precedence over new choices. Fails:
// UsageError naming the parameter.
PreprocessRequest resolve(PreprocessRequest request, const storage::Manifest* existing = nullptr);

// The parameters that a session was begun with; unit and bucket are those of its last job. Fails:
// StoreError for an unknown name.
ParameterRequest begun_parameters(const storage::Manifest& manifest);
// The last job of a store, to be continued as `request` asks.
PreprocessRequest last_job(PreprocessRequest request, const storage::Manifest& manifest);

// The cost of a resolved request, over such a link.
Estimate estimate_of(const PreprocessRequest& request, const net::LinkShape& link = {});

// The parameters as recorded in a manifest, without those that the profile does not have.
storage::Manifest security_of(const offline::SecurityParameters& params, const Estimate& estimate);

// Those of the parameters that both parties must agree on.
std::vector<net::Parameter> parameters_of(const offline::SecurityParameters& params,
                                          const storage::Manifest& security);

// The units of this job's shard.
std::vector<offline::UnitRequest> requests_of(const offline::SecurityParameters& params,
                                              const PreprocessRequest& request);

// The requested units, counted by size and bucket, none of them outstanding.
storage::AttemptTotals units_of(std::span<const offline::UnitRequest> requests);

// What a job makes, or what material is enough for.
struct Demand {
  std::uint64_t ands = 0, inputs = 0;
};
Demand demand_of(std::span<const offline::UnitRequest> requests);

// A resolved request and what follows from it.
struct JobPlan {
  explicit JobPlan(const PreprocessRequest& resolved);

  PreprocessRequest request;
  offline::SecurityParameters params;
  std::vector<offline::UnitRequest> units;  // of this shard
  Demand demand;                            // of these
  Estimate estimate;
  storage::Manifest security;
};

// What both parties must agree on before the session is established. If each of them has a store
// already (`continues`), the last job may be complete for one of them and not for the other, so its
// amounts, unit and bucket are compared later (top_up.h).
std::vector<net::Parameter> parameters_to_agree(const PreprocessRequest& request,
                                                const JobPlan& plan, bool continues);

// The manifest of an empty store.
storage::Manifest new_manifest(const JobPlan& plan, const SessionId& session);

// The amounts of a store or session that is continued do not change, except that a complete store
// can grow. `begun` names it. Fails: StoreError naming what differs.
void check_same_amount(const std::string& begun, const storage::Manifest& manifest,
                       const PreprocessRequest& request);

// A store or session that is continued keeps the parameters that it was begun with; a store that
// grows may have units of another size in each job. `begun` names it. Fails: StoreError naming the
// parameter.
void check_same_parameters(const std::string& begun, const storage::Manifest& manifest,
                           const PreprocessRequest& request, const storage::Manifest& wanted);

}  // namespace tinyot::engine
