// The default number of ANDs of a unit.
#pragma once

#include <cstdint>

#include "offline/parameters.h"

namespace tinyot::engine {

// Chooses the unit size such that a party can make `request.workers` units at a time within
// `memory_bytes`: among the sizes with the smallest bucket, since work and traffic grow with it,
// the smallest that is not below the profile's usual size. At most `ands`, the ANDs of the job,
// which also makes `inputs` aBits of each party. A unit size given in the request is kept, unless
// it is larger than `ands`. Whether the bucket suffices is checked by SecurityParameters::make.
// Fails: UsageError if no size fits, with the least memory that suffices.
std::uint64_t choose_unit(const ParameterRequest& request, std::uint64_t ands, std::uint64_t inputs,
                          std::uint64_t memory_bytes);

}  // namespace tinyot::engine
