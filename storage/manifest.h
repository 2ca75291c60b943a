// What a store is about: which session, which party, which parameters, and how far the session has
// come.
//
// The coding is protobuf (manifest.proto, FORMAT.md). A manifest read from disk is untrusted: every
// field is checked before anything else looks at it, and texts are printable ASCII, so that they
// may be shown.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/block.h"
#include "base/party.h"

namespace tinyot::storage {

// The store format that this program writes and reads.
inline constexpr std::uint32_t kStoreFormat = 3;

// Open: more units may come. Complete: the requested ANDs are made. Revoked: a check failed or the
// session is retired; nothing of it is ever served again.
enum class SessionState : std::uint8_t { Open = 0, Complete = 1, Revoked = 2 };
std::string_view name_of(SessionState state);

struct Manifest {
  std::uint32_t format_version = kStoreFormat;
  std::array<std::byte, 32> session_id{};
  Party me = Party::A;
  std::string peer;  // the peer's name or fingerprint, empty if it has none
  std::string profile;
  std::string material;            // what an AND takes: pairs or triples
  std::string columns;             // of LaBit; empty where the profile has none
  std::uint32_t softspoken_k = 0;  // 0 where the profile has none
  std::uint32_t kappa = kKappa;
  std::uint32_t sigma = 0;              // bits
  std::uint32_t bucket = 0;             // B
  std::uint64_t unit = 0;               // ANDs permuted together
  std::uint32_t shard = 1, shards = 1;  // which of how many parts of the session are made here
  SessionState state = SessionState::Open;
  std::string dead_reason;  // filled if and only if the session is dead
  std::uint64_t units_made = 0;
  std::uint64_t ands_requested = 0;   // of the whole session
  std::uint64_t units_requested = 0;  // of this store; 0 while it is not known
  bool peer_complete = false;         // the peer has said that its half is complete too
  double sigma_paper_bound = 0;       // bits, the least over the units made so far
  double sigma_exact = 0;             // bits, likewise

  friend bool operator==(const Manifest&, const Manifest&) = default;
};

// Fails: StoreError naming the field that no manifest can have.
std::string serialize_manifest(const Manifest& manifest);

// Fails: StoreError, for a newer format with both version numbers, for triples of a kind that was
// withdrawn with the reason, for nonsense with the field.
Manifest parse_manifest(std::span<const std::byte> bytes);

// A text as a manifest keeps it: printable ASCII, cut to what fits; never empty.
std::string printable(std::string_view text);

}  // namespace tinyot::storage
