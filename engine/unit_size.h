// How many ANDs a unit gets where the user leaves it open.
#pragma once

#include <cstdint>

#include "base/parameters.h"

namespace tinyot::engine {

inline constexpr std::uint64_t kPlanMemoryBytes = 1'000'000'000;  // by default

// Of the units that let `request.workers` of them be made within `memory_bytes` by a party, those
// with the smallest bucket, since work and traffic grow with it; of these the smallest that is not
// below the profile's usual one. At most `ands`, of which there are `inputs` aBits of each party
// more. A unit that the request has stays, unless it is larger than `ands`. Fails: UsageError if
// none fits, with the least that would. Whether the bucket suffices is for SecurityParameters::make
// to say.
std::uint64_t choose_unit(const ParameterRequest& request, std::uint64_t ands, std::uint64_t inputs,
                          std::uint64_t memory_bytes);

}  // namespace tinyot::engine
