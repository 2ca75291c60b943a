// What a preprocessing job makes, and which of its parameters must match the peer's job and the
// store or session that it continues.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/estimate.h"
#include "engine/preprocess.h"
#include "net/handshake.h"
#include "offline/unit_maker.h"

namespace tinyot::engine {

// The request with a unit size and everything that its bucket depends on. The values that the
// session was begun with take precedence over new choices. Fails: UsageError naming the parameter.
PreprocessRequest planned(PreprocessRequest request, const storage::Manifest* begun = nullptr);

// The cost of a planned request, over such a link.
JobEstimate estimate_of(const PreprocessRequest& request, const net::LinkShape& link = {});

// The parameters as recorded in a manifest, without those that the profile does not have.
storage::Manifest security_of(const SecurityParameters& params, const JobEstimate& estimate);

// Those of the parameters that both parties must agree on.
std::vector<net::Parameter> parameters_of(const SecurityParameters& params,
                                          const storage::Manifest& security);

// Everything that both parties must agree on before a unit is made.
std::vector<net::Parameter> parameters_to_agree(const PreprocessRequest& request,
                                                const SecurityParameters& params,
                                                const storage::Manifest& security);

// The manifest of an empty store.
storage::Manifest new_manifest(const PreprocessRequest& request, storage::Manifest security,
                               const SessionId& session, std::size_t units);

// The units of this job's shard.
std::vector<offline::UnitRequest> requests_of(const SecurityParameters& params,
                                              const PreprocessRequest& request);

// The requested units, counted by size and bucket, none of them outstanding.
storage::AttemptTotals units_of(std::span<const offline::UnitRequest> requests);

struct Work {
  std::uint64_t ands = 0, inputs = 0;
};
Work work_of(std::span<const offline::UnitRequest> requests);

// A store or session that is continued keeps the parameters that it was begun with; `begun` names
// it. Fails: StoreError naming the parameter.
void check_same_parameters(const std::string& begun, const storage::Manifest& manifest,
                           const PreprocessRequest& request, const storage::Manifest& wanted);

}  // namespace tinyot::engine
