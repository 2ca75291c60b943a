// Records: the encoding of a batch in one value of the database, before it is sealed. FORMAT.md has
// the bytes.
//
// A record is the batch's arrays, little-endian and one after the other: for each of my columns and
// of the shared ones the packed bits and the MACs, for each of the peer's columns the keys. Both
// parties cut their records at the same objects, so that record i of one matches record i of the
// other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "material/material.h"

namespace tinyot::storage {

// The approximate number of bytes of material in one commit: large, so that syncing costs little
// compared to writing, but limited, since the material is in memory twice, as poured batches and as
// LMDB's dirty pages.
inline constexpr std::uint64_t kCommitBytes = std::uint64_t{16} << 20;

// The arrays of a batch in the order of its record, bytes_of(batch) bytes together.
std::vector<std::span<std::byte>> arrays_of(material::Batch& batch);
std::vector<std::span<const std::byte>> arrays_of(const material::Batch& batch);

// To be called when the arrays have been written: the bits beyond the last object are zero.
void finish_arrays(material::Batch& batch);

}  // namespace tinyot::storage
