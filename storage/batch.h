// A batch is a record sealed under a key of its own, and an entry in the catalogue of its kind. The
// entry says which objects the record holds, the slot of its key, and the digests of the two
// parties' halves.
//
// The digest of a half is the authentication tag of its seal: 128 bits that only its owner can
// compute in advance and that reveal nothing about the plaintext. Opening the batch verifies it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/session_id.h"
#include "crypto/aead.h"
#include "material/material.h"

namespace tinyot::storage {

struct BatchEntry {
  MaterialKind kind = MaterialKind::AuthBitsA;
  std::uint64_t first = 0;  // index of the first object
  std::uint32_t count = 0;
  // where it was made, and its first index there; a merge changes the index, not the seal
  std::uint32_t shard = 1;
  std::uint64_t origin = 0;
  std::uint64_t slot = 0;  // in the key table; also the database key of the record
  crypto::SealTag tag{};
  std::optional<crypto::SealTag> peers_tag = {};  // once the peer has sent it

  std::uint64_t end() const { return first + count; }
  friend bool operator==(const BatchEntry&, const BatchEntry&) = default;
};

// The index of the reference bits. No object of a catalogue has it.
inline constexpr std::uint64_t kReferenceFirst = std::uint64_t{1} << 63;

inline constexpr std::size_t kBatchEntryBytes = 64;
// Upper bound on the tree and free-list pages that dropping one batch changes.
inline constexpr std::uint64_t kDropBytes = 8192;
using CodedEntry = std::array<std::byte, kBatchEntryBytes>;

CodedEntry encode_entry(const BatchEntry& entry);
// Reads an untrusted entry. Empty if the bytes are not a valid entry.
std::optional<BatchEntry> decode_entry(MaterialKind kind, std::uint64_t first,
                                       std::span<const std::byte> bytes);

// A party's half of a batch, as it is sent to the peer.
struct Half {
  std::uint64_t first;
  std::uint32_t count;
  std::uint32_t kind;  // number of a kind; not validated
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

// The halves of some units, in order of kind and index. Beyond `unlocked`, batches have neither
// been cut nor dropped since both parties made them.
struct Halves {
  MaterialCounts unlocked;
  std::vector<Half> of;
};

// For error messages: "auth_bits_a 4096..8191".
std::string text_of(const BatchEntry& entry);

// Seals the record of a batch, from where its arrays are, and fills in the entry's tag.
void seal_batch(const SessionId& session, Party me, BatchEntry& entry, const crypto::SealKey& key,
                const material::Batch& objects, std::span<std::byte> sealed);
// Returns the objects in `memory`, a batch that is no longer needed, if they have the same kind and
// number. Fails: StoreError naming the batch, if a bit of the record, its entry or its key has
// changed.
material::Batch open_batch(const SessionId& session, Party me, const BatchEntry& entry,
                           const crypto::SealKey& key, std::span<const std::byte> sealed,
                           material::Batch memory);

[[noreturn]] void throw_corrupt_batch(const std::string& batch);

}  // namespace tinyot::storage
