// Batches: the unit in which material lies in a store. A batch is a record sealed under a key of
// its own, and an entry in the catalogue of its kind that says which objects it holds, which key
// opens it, and by which digest the parties know its two halves.
//
// The digest of a half is the authentication tag of its sealing: 128 bits that nobody but its owner
// can foretell, that tell nothing of what is sealed, and that cost nothing to compute again when
// the batch is opened.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/material.h"
#include "base/session_id.h"
#include "crypto/aead.h"

namespace tinyot::storage {

struct BatchEntry {
  MaterialKind kind = MaterialKind::AuthBitsA;
  std::uint64_t first = 0;  // index of the first object
  std::uint32_t count = 0;
  // where and as which object it was made; a merge renumbers, and does not seal anew
  std::uint32_t shard = 1;
  std::uint64_t origin = 0;
  std::uint64_t slot = 0;  // of the key table, and the key of the record
  crypto::SealTag tag{};
  std::optional<crypto::SealTag> peers_tag = {};  // once the peer has told it

  std::uint64_t end() const { return first + count; }
  friend bool operator==(const BatchEntry&, const BatchEntry&) = default;
};

// The index of bits that are kept for later units: no object that is made for runs has it.
inline constexpr std::uint64_t kKeptFirst = std::uint64_t{1} << 63;

inline constexpr std::size_t kBatchEntryBytes = 64;
// Tree and free-list pages that dropping one batch touches, at most.
inline constexpr std::uint64_t kDropBytes = 8192;
using CodedEntry = std::array<std::byte, kBatchEntryBytes>;

CodedEntry encode_entry(const BatchEntry& entry);
// Reads an untrusted entry. Empty if no store has written it.
std::optional<BatchEntry> decode_entry(MaterialKind kind, std::uint64_t first,
                                       std::span<const std::byte> bytes);

// What a party tells of its half of a batch.
struct Half {
  std::uint64_t first;
  std::uint32_t count;
  std::uint32_t kind;  // the number of one, if it was an honest party that told it
  crypto::SealTag tag;
};
Half half_of(const BatchEntry& entry);
using HalfOrder = std::pair<std::uint32_t, std::uint64_t>;
inline HalfOrder order_of(const Half& half) { return {half.kind, half.first}; }
inline HalfOrder order_of(const BatchEntry& entry) {
  return {static_cast<std::uint32_t>(entry.kind), entry.first};
}
inline bool is_half_of(const Half& half, const BatchEntry& entry) {
  return order_of(half) == order_of(entry) && half.count == entry.count;
}

// Of some units, in order of kind and index, and up to where a kind's batches may have been cut or
// dropped since they were made: beyond what is unlocked they lie as both parties have made them.
struct Halves {
  MaterialCounts unlocked;
  std::vector<Half> of;
};

// "auth_bits_a 4096..8191"
std::string text_of(const BatchEntry& entry);

// Seals a record, and fills in the entry's tag.
void seal_record(const SessionId& session, Party me, BatchEntry& entry, const crypto::SealKey& key,
                 std::span<const std::byte> plain, std::span<std::byte> sealed);
// Fails: StoreError naming the batch, if a bit of the record, its entry or its key is another one.
void open_record(const SessionId& session, Party me, const BatchEntry& entry,
                 const crypto::SealKey& key, std::span<const std::byte> sealed,
                 std::span<std::byte> plain);

[[noreturn]] void throw_corrupt_batch(const std::string& batch);

}  // namespace tinyot::storage
