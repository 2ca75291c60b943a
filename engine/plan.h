// What a preprocessing job is to make, and what it has to have in common with the peer's, and with
// what was begun before.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/estimate.h"
#include "engine/preprocess.h"
#include "net/handshake.h"
#include "offline/unit_maker.h"

namespace tinyot::engine {

// The request with a unit and with all that its bucket depends on. What the session was begun with
// goes before what would be chosen now. Fails: UsageError naming the parameter.
PreprocessRequest planned(PreprocessRequest request, const storage::Manifest* begun = nullptr);

// What a planned request costs.
JobEstimate estimate_of(const PreprocessRequest& request);

// The parameters as a manifest names them, which leaves out what their profile does not have.
storage::Manifest security_of(const SecurityParameters& params, const JobEstimate& estimate);

// Of these, what both parties must agree on.
std::vector<net::Parameter> parameters_of(const SecurityParameters& params,
                                          const storage::Manifest& security);

// What both parties must agree on before a unit is made.
std::vector<net::Parameter> parameters_to_agree(const PreprocessRequest& request,
                                                const SecurityParameters& params,
                                                const storage::Manifest& security);

// Of a store that has nothing yet.
storage::Manifest new_manifest(const PreprocessRequest& request, storage::Manifest security,
                               const SessionId& session, std::size_t units);

// The units of this job's shard.
std::vector<offline::UnitRequest> requests_of(const SecurityParameters& params,
                                              const PreprocessRequest& request);

// Such units, by size and bucket, none of them outstanding.
storage::AttemptTotals units_of(std::span<const offline::UnitRequest> requests);

struct Work {
  std::uint64_t ands = 0, inputs = 0;
};
Work work_of(std::span<const offline::UnitRequest> requests);

// A store or session that is gone on with keeps the parameters that it was begun with; `begun`
// names it. Fails: StoreError naming the parameter.
void check_same_parameters(const std::string& begun, const storage::Manifest& manifest,
                           const PreprocessRequest& request, const storage::Manifest& wanted);

}  // namespace tinyot::engine
