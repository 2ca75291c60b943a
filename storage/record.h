// Records: how a run of objects of one kind lies in one value of the database. FORMAT.md has the bytes.
//
// A record is a fixed header and then plain little-endian arrays: for each of my columns the packed bits and the MACs, for
// each of the peer's columns the keys. Both parties cut their records at the same objects, so that record i of one is the
// other half of record i of the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/material.h"

namespace tinyot {

inline constexpr std::size_t kRecordHeaderBytes = 32;

// The largest value: 256 pages of the database file, the first of which begins with LMDB's own 16 bytes.
inline constexpr std::size_t kRecordBytesMax = 256 * 4096 - 16;

// Bytes of a record of `count` objects.
std::size_t record_bytes(MaterialKind kind, Party me, std::size_t count);

// Objects in a full record: a multiple of 64, the same for both parties.
std::size_t record_capacity(MaterialKind kind);

struct RecordHeader {
  MaterialKind kind;
  Party me;
  std::uint64_t first;
  std::uint32_t count;

  std::uint64_t end() const { return first + count; }
};

// A run of objects inside a batch; a record is gathered from one or more of them.
struct Segment {
  const MaterialBatch* batch;
  std::size_t from;
  std::size_t count;
};

// Writes the record of header.count objects; `record` has record_bytes and any alignment.
void encode_record(const RecordHeader& header, std::span<const Segment> segments, std::span<std::byte> record);

// Reads the header of an untrusted record, and checks it against its place in the database and against its length.
// Fails: StoreError naming the record.
RecordHeader check_record(MaterialKind kind, Party me, std::uint64_t first, std::span<const std::byte> record);

// Copies objects [from, from + count) of a checked record to [to, to + count) of a batch.
void decode_objects(const RecordHeader& header, std::span<const std::byte> record, std::size_t from, std::size_t count,
                    MaterialBatch& target, std::size_t to);

// Copies objects [from, from + count) between batches of one kind.
void copy_objects(const MaterialBatch& source, std::size_t from, std::size_t count, MaterialBatch& target, std::size_t to);

[[noreturn]] void throw_corrupt_record(MaterialKind kind, std::uint64_t first);

}  // namespace tinyot
