// A party's store of preprocessing material: a directory that preprocess() fills and runs consume.
//
// Each function opens the store and closes it again. Several processes, and several threads of a
// process, may use a store at the same time. `key` is the one under which the store is sealed, if
// any. Fails, all functions: StoreError naming the path and the reason.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tinyot/endpoint.h"
#include "tinyot/export.h"
#include "tinyot/material.h"
#include "tinyot/party.h"
#include "tinyot/security.h"
#include "tinyot/store_key.h"
#include "tinyot/store_state.h"

namespace tinyot {

struct StoreInfo {
  std::string session;  // 64 hex digits; equal in the peer's store
  Party party = Party::A;
  std::string peer;  // the fingerprint of the peer's key; empty without keys
  StoreState state = StoreState::Open;
  std::string revocation_reason;  // of a revoked store
  bool keys_are_gone = false;     // of a revoked store: all of them are overwritten
  KeyProtection protection = KeyProtection::ByPermissions;
  Security security;
  std::uint32_t shard = 1, shards = 1;
  std::uint64_t ands_requested = 0;  // of the whole session, in all jobs
  std::uint64_t units_made = 0;
  std::array<KindCounts, kMaterialKinds> kinds{};
  std::vector<std::uint64_t> reservations;  // numbers of those that are planned
  // What can be evaluated with what is left: ANDs, and bits of each party for inputs.
  std::uint64_t ands_left = 0, inputs_left = 0;
  std::uint64_t bytes = 0;  // of its files

  const KindCounts& of(MaterialKind kind) const { return kinds[static_cast<std::size_t>(kind)]; }
  MaterialCounts left() const {
    MaterialCounts counts;
    for (const MaterialKind kind : kAllMaterialKinds) counts[kind] = of(kind).left;
    return counts;
  }
};

TINYOT_API bool store_exists(const std::filesystem::path& directory);
TINYOT_API StoreInfo store_info(const std::filesystem::path& directory,
                                const std::optional<StoreKey>& key = {});

// Called with the bytes processed so far and, if it is known, of all.
using BytesObserver = std::function<void(std::uint64_t done, std::uint64_t total)>;

// What the peer's halves are like, of the batches that this party's store has.
struct PeersHalves {
  static constexpr std::size_t kDifferencesMax = 100;

  std::uint64_t matched = 0;
  std::uint64_t cut = 0;          // they match by index, and have been cut since they were made
  std::uint64_t passed_over = 0;  // one of the parties has used them
  std::uint64_t different = 0;
  std::vector<std::string> differences;  // the first of them, one line each
};
struct StoreCheck {
  std::string session;
  std::uint64_t batches = 0, bytes = 0;
  std::vector<std::string> corrupt;         // one line for each batch
  std::optional<PeersHalves> peers_halves;  // if a peer was given

  bool is_sound() const {
    return corrupt.empty() && (!peers_halves || peers_halves->different == 0);
  }
};
// Checks all batches that may still be used, without using any; with a peer, who calls this as
// well, also that the halves of both parties belong together. Fails: as well as in error.h, with a
// peer.
TINYOT_API StoreCheck verify_store(const std::filesystem::path& directory,
                                   const std::optional<StoreKey>& key = {},
                                   const std::optional<Endpoint>& peer = {},
                                   const BytesObserver& observer = {});

// Ends the session: erases all keys, durably, in whatever state the store is. The peer's store
// then becomes unusable too.
TINYOT_API RetiredStore retire_store(const std::filesystem::path& directory,
                                     const std::optional<StoreKey>& key = {});

// Makes a copy of a store the original, which must no longer be used. Returns its state.
TINYOT_API StoreState adopt_store(const std::filesystem::path& directory,
                                  const std::optional<StoreKey>& key = {});

// Moves the material of all shards of a session into a new store; the shards are revoked. An
// interrupted merge is completed by the same call, and until then no material can be used.
TINYOT_API MergedStore merge_stores(const std::filesystem::path& out,
                                    std::span<const std::filesystem::path> shards,
                                    const std::optional<StoreKey>& key = {},
                                    const BytesObserver& observer = {});

}  // namespace tinyot
