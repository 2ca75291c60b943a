// What SoftSpokenOT costs.
#pragma once

#include <cstdint>

#include "tinyot/parameters.h"

namespace tinyot::offline {

// Bytes that each party sends: corrections, challenge and answer for bits in batches of at most
// `batch`; and once, base OTs, trees and the first reference bits.
std::uint64_t softspoken_bytes(std::uint32_t k, std::uint64_t bits, std::uint64_t batch);
std::uint64_t softspoken_set_up_bytes(std::uint32_t k, BaseOt base_ot);

// Fails: UsageError naming the parameter if it is not 1, 2 or 4.
std::uint32_t softspoken_k_in(const NamedValue& given);

}  // namespace tinyot::offline
