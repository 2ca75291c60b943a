// What chains of silent bits cost.
#pragma once

#include <cstdint>
#include <span>

#include "offline/silent/parameter_sets.h"

namespace tinyot::offline {

// Bytes that each party sends until a chain gives its first bit, and for the steps that it takes
// until it has given `draws` bits of each direction.
std::uint64_t chain_start_bytes(const SilentSet& set, std::uint32_t softspoken_k);
std::uint64_t chain_step_bytes(const SilentSet& set, std::uint64_t draws);
// Of the chains of `workers`, of which worker w makes units w, w + workers, ...: draws has the bits
// that each unit takes.
std::uint64_t chains_bytes(const SilentSet& set, std::uint32_t softspoken_k,
                           std::span<const std::uint64_t> draws, std::size_t workers);

// Peak memory of a chain.
std::uint64_t chain_memory_bytes(const SilentSet& set);

}  // namespace tinyot::offline
