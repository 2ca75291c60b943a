// What a preprocessing job is to make, and what it has to have in common with the peer's, and with
// what was begun before.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "offline/unit_maker.h"
#include "tools/preprocess.h"

namespace tinyot::tools {

// What both parties must agree on before a unit is made.
std::vector<net::Parameter> parameters_to_agree(const PreprocessJob& job,
                                                const SecurityParameters& params,
                                                const storage::Manifest& security);

// Of a store that has nothing yet.
storage::Manifest new_manifest(const PreprocessJob& job, storage::Manifest security,
                               const SessionId& session, std::size_t units);

// The units of this job's shard.
std::vector<offline::UnitRequest> requests_of(const SecurityParameters& params,
                                              const PreprocessJob& job);

// Such units, by size and bucket, none of them outstanding.
storage::AttemptTotals units_of(std::span<const offline::UnitRequest> requests);

struct Work {
  std::uint64_t ands = 0, inputs = 0;
};
Work work_of(std::span<const offline::UnitRequest> requests);

// A store or session that is gone on with keeps the parameters that it was begun with; `begun`
// names it. Fails: StoreError naming the option.
void check_same_parameters(const std::string& begun, const storage::Manifest& manifest,
                           const PreprocessJob& job, const storage::Manifest& wanted);

}  // namespace tinyot::tools
