// The manifest of a store: its session, party and parameters, and the progress of the session.
//
// The encoding is protobuf (manifest.proto, FORMAT.md). A manifest read from disk is untrusted:
// every field is checked before it is used, and texts are printable ASCII, so that they may be
// displayed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/block.h"
#include "tinyot/parameters.h"
#include "tinyot/party.h"
#include "tinyot/store_state.h"

namespace tinyot::storage {

inline constexpr std::uint32_t kShardsMax = 1 << 16;  // of a session

// The store format that this program writes and reads.
inline constexpr std::uint32_t kStoreFormat = 4;

struct Manifest {
  std::uint32_t format_version = kStoreFormat;
  std::array<std::byte, 32> session_id{};
  Party me = Party::A;
  std::string peer;  // the peer's fingerprint, empty over plain TCP
  std::string profile;
  std::string material;         // what ANDs are made from: the name of an AndMaterial
  std::vector<NamedValue> own;  // parameters that not every profile has
  std::uint32_t kappa = kKappa;
  std::uint32_t sigma = 0;              // bits
  BucketSizes bucket;                   // B, of the last job's full units
  std::uint64_t unit = 0;               // ANDs permuted together, of the last job
  std::uint32_t shard = 1, shards = 1;  // this store's part of the session, and the number of parts
  StoreState state = StoreState::Open;
  std::string revocation_reason;  // set if and only if the session is revoked
  std::uint64_t units_made = 0;
  std::uint64_t ands_requested = 0;   // of the whole session, in all jobs
  std::uint64_t units_requested = 0;  // of this store, in all jobs; 0 while unknown
  bool peer_complete = false;         // the peer has confirmed that its half is complete
  // A store may be made in several jobs, one after the other. These describe the last one: the
  // units and requested ANDs before it, and its aBits for inputs; absent if earlier versions began
  // it.
  std::uint64_t units_before = 0, ands_before = 0;
  std::optional<std::uint64_t> inputs_requested = {};
  double sigma_paper_bound = 0;  // bits, minimum over the units made so far
  double sigma_exact = 0;        // bits, minimum over the units made so far

  friend bool operator==(const Manifest&, const Manifest&) = default;
};

// Fails: StoreError naming the invalid field.
std::string serialize_manifest(const Manifest& manifest);

// Fails: StoreError that names both formats and what to do for a store of another format, and the
// field for an invalid value.
Manifest parse_manifest(std::span<const std::byte> bytes);

// Converts a text for the manifest: printable ASCII, cut to kTextMax characters, never empty.
std::string printable(std::string_view text);

}  // namespace tinyot::storage
