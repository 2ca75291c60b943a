// Records: the encoding of consecutive objects of one kind in one value of the database, before it
// is sealed. FORMAT.md has the bytes.
//
// A record is a sequence of little-endian arrays: for each of my columns the packed bits and the
// MACs, for each of the peer's columns the keys. Both parties cut their records at the same
// objects, so that record i of one matches record i of the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/batch_queue.h"
#include "base/material.h"

namespace tinyot::storage {

// The approximate number of bytes of material in one commit: large, so that syncing costs little
// compared to writing, but limited, since the material is in memory twice, as poured batches and as
// LMDB's dirty pages.
inline constexpr std::uint64_t kCommitBytes = std::uint64_t{16} << 20;
// The approximate maximum that waits between the thread that makes material and the one that
// commits or uses it.
inline constexpr std::uint64_t kWaitingBytes = 3 * kCommitBytes;

// The largest value: 64 pages of the database file, less LMDB's page header of 16 bytes. Records
// are this small because a run that ends within a record reseals it, and so that a record fits into
// the processor's cache.
inline constexpr std::size_t kRecordBytesMax = 64 * 4096 - 16;

// Bytes of a record of `count` objects.
std::size_t record_bytes(MaterialKind kind, Party me, std::size_t count);

// Objects in a full record: a multiple of 64, the same for both parties.
std::size_t record_capacity(MaterialKind kind);

// Writes the record of the slices' objects. `record` has record_bytes() bytes and any alignment.
void encode_record(MaterialKind kind, Party me, std::size_t total,
                   std::span<const MaterialSlice> slices, std::span<std::byte> record);
// The record of objects [from, from + count) of a batch.
void encode_record(Party me, const MaterialBatch& batch, std::size_t from, std::size_t count,
                   std::span<std::byte> record);

// Copies objects [from, from + count) of a record of `total` objects to [to, to + count) of a
// batch.
void decode_objects(MaterialKind kind, Party me, std::size_t total,
                    std::span<const std::byte> record, std::size_t from, std::size_t count,
                    MaterialBatch& target, std::size_t to);

}  // namespace tinyot::storage
