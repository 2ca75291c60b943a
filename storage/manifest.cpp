#include "storage/manifest.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "manifest.pb.h"

namespace tinyot {

std::string_view name_of(StoreState state) {
  switch (state) {
    case StoreState::Open:
      return "open";
    case StoreState::Complete:
      return "complete";
    case StoreState::Revoked:
      return "revoked";
  }
  ENSURE(false && "unknown StoreState");
  return {};
}

}  // namespace tinyot

namespace tinyot::storage {
namespace {

constexpr std::size_t kNameMax = 32, kTextMax = 1024, kOwnMax = 16;
constexpr std::uint32_t kSigmaMax = 128, kBucketMax = 4096;
constexpr std::uint64_t kUnitMax = std::uint64_t{1} << 24;
constexpr std::uint64_t kCountMax = std::uint64_t{1} << 56;
constexpr double kBitsMax = 1e6;

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

bool is_name(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !text.empty() && text.size() <= kNameMax && std::all_of(text.begin(), text.end(), fits);
}

// In the order of the profile, each once.
bool are_parameters(const std::vector<NamedValue>& values) {
  const auto fits = [&](const NamedValue& value) {
    return is_name(value.name) && is_name(value.value) &&
           std::ranges::count(values, value.name, &NamedValue::name) == 1;
  };
  return values.size() <= kOwnMax && std::ranges::all_of(values, fits);
}

bool is_bucket(const BucketSizes& bucket) {
  return bucket.levels() > 0 && std::ranges::all_of(bucket.sizes(), [](std::uint32_t size) {
           return size >= 1 && size <= kBucketMax;
         });
}

bool is_bits(double value) { return std::isfinite(value) && value >= 0 && value <= kBitsMax; }

// The first field with an invalid value; null if there is none.
const char* invalid_field_in(const Manifest& manifest) {
  if (manifest.format_version == 0) return "format version";
  if (manifest.peer.size() > kTextMax || !is_printable(manifest.peer)) return "peer";
  if (!is_name(manifest.profile)) return "profile";
  if (!is_name(manifest.material)) return "material";
  if (!are_parameters(manifest.own)) return "parameters of the profile";
  if (manifest.kappa != kKappa) return "kappa";
  if (manifest.sigma < 1 || manifest.sigma > kSigmaMax) return "sigma";
  if (!is_bucket(manifest.bucket)) return "bucket";
  if (manifest.unit < 1 || manifest.unit > kUnitMax) return "unit";
  if (manifest.shards < 1 || manifest.shards > kShardsMax || manifest.shard < 1 ||
      manifest.shard > manifest.shards)
    return "shard";
  if ((manifest.state == StoreState::Revoked) == manifest.revocation_reason.empty())
    return "revocation reason";
  if (manifest.revocation_reason.size() > kTextMax || !is_printable(manifest.revocation_reason))
    return "revocation reason";
  if (manifest.units_made > kCountMax) return "units made";
  if (manifest.ands_requested > kCountMax) return "ANDs requested";
  if (manifest.units_requested > kCountMax) return "units requested";
  if (manifest.inputs_requested.value_or(0) > kCountMax) return "inputs requested";
  if (manifest.units_before > std::max(manifest.units_requested, manifest.units_made))
    return "units before the last job";
  if (manifest.ands_before > manifest.ands_requested) return "ANDs before the last job";
  if (!is_bits(manifest.sigma_paper_bound)) return "sigma by the paper's bound";
  if (!is_bits(manifest.sigma_exact)) return "exact sigma";
  return nullptr;
}

[[noreturn]] void throw_corrupt_manifest(const std::string& field) {
  throw StoreError("manifest is corrupt: " + field);
}

stored::SessionStateName stored_state(StoreState state) {
  switch (state) {
    case StoreState::Open:
      return stored::STATE_OPEN;
    case StoreState::Complete:
      return stored::STATE_COMPLETE;
    case StoreState::Revoked:
      return stored::STATE_REVOKED;
  }
  ENSURE(false && "unknown StoreState");
  return stored::STATE_UNKNOWN;
}

StoreState state_from(stored::SessionStateName state) {
  switch (state) {
    case stored::STATE_OPEN:
      return StoreState::Open;
    case stored::STATE_COMPLETE:
      return StoreState::Complete;
    case stored::STATE_REVOKED:
      return StoreState::Revoked;
    default:
      throw_corrupt_manifest("state");
  }
}

Party party_from(stored::PartyName party) {
  switch (party) {
    case stored::PARTY_A:
      return Party::A;
    case stored::PARTY_B:
      return Party::B;
    default:
      throw_corrupt_manifest("party");
  }
}

// None if there is another number of sizes than a profile has.
BucketSizes bucket_from(const stored::ManifestRecord& record) {
  switch (record.bucket_size()) {
    case 1:
      return record.bucket(0);
    case 2:
      return {record.bucket(0), record.bucket(1)};
    default:
      return {};
  }
}

// The number is the first thing that is read: a store of another format means other things by its
// other fields.
void check_format(std::uint32_t format) {
  if (format == kStoreFormat) return;
  if (format == 0) throw_corrupt_manifest("format version");
  throw StoreError("this store has format " + std::to_string(format) +
                   "; this version reads format " + std::to_string(kStoreFormat) + ": " +
                   (format < kStoreFormat ? "preprocess into a new store"
                                          : "use the version that made the store"));
}

}  // namespace

std::string serialize_manifest(const Manifest& manifest) {
  if (const char* field = invalid_field_in(manifest))
    throw StoreError(std::string("cannot write a manifest: invalid value of field ") + field);
  stored::ManifestRecord record;
  record.set_format_version(manifest.format_version);
  record.set_session_id(manifest.session_id.data(), manifest.session_id.size());
  record.set_party(manifest.me == Party::A ? stored::PARTY_A : stored::PARTY_B);
  record.set_peer(manifest.peer);
  record.set_profile(manifest.profile);
  record.set_material(manifest.material);
  for (const auto& [name, value] : manifest.own) {
    stored::OwnParameter& own = *record.add_own();
    own.set_name(name);
    own.set_value(value);
  }
  record.set_kappa(manifest.kappa);
  record.set_sigma(manifest.sigma);
  for (const std::uint32_t size : manifest.bucket.sizes()) record.add_bucket(size);
  record.set_unit(manifest.unit);
  record.set_shard(manifest.shard);
  record.set_shards(manifest.shards);
  record.set_state(stored_state(manifest.state));
  record.set_revocation_reason(manifest.revocation_reason);
  record.set_units_made(manifest.units_made);
  record.set_ands_requested(manifest.ands_requested);
  record.set_units_requested(manifest.units_requested);
  record.set_peer_complete(manifest.peer_complete);
  record.set_units_before(manifest.units_before);
  record.set_ands_before(manifest.ands_before);
  if (manifest.inputs_requested) record.set_inputs_requested(*manifest.inputs_requested);
  record.set_sigma_paper_bound(manifest.sigma_paper_bound);
  record.set_sigma_exact(manifest.sigma_exact);
  return record.SerializeAsString();
}

Manifest parse_manifest(std::span<const std::byte> bytes) {
  stored::ManifestRecord record;
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) ||
      !record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    throw_corrupt_manifest("not a manifest");
  check_format(record.format_version());
  Manifest manifest;
  manifest.format_version = record.format_version();
  if (record.session_id().size() != manifest.session_id.size())
    throw_corrupt_manifest("session id");
  std::memcpy(manifest.session_id.data(), record.session_id().data(), manifest.session_id.size());
  manifest.me = party_from(record.party());
  manifest.peer = record.peer();
  manifest.profile = record.profile();
  manifest.material = record.material();
  for (const stored::OwnParameter& own : record.own())
    manifest.own.push_back({own.name(), own.value()});
  manifest.kappa = record.kappa();
  manifest.sigma = record.sigma();
  manifest.bucket = bucket_from(record);
  manifest.unit = record.unit();
  manifest.shard = record.shard();
  manifest.shards = record.shards();
  manifest.state = state_from(record.state());
  manifest.revocation_reason = record.revocation_reason();
  manifest.units_made = record.units_made();
  manifest.ands_requested = record.ands_requested();
  manifest.units_requested = record.units_requested();
  manifest.peer_complete = record.peer_complete();
  manifest.units_before = record.units_before();
  manifest.ands_before = record.ands_before();
  if (record.has_inputs_requested()) manifest.inputs_requested = record.inputs_requested();
  manifest.sigma_paper_bound = record.sigma_paper_bound();
  manifest.sigma_exact = record.sigma_exact();
  if (const char* field = invalid_field_in(manifest)) throw_corrupt_manifest(field);
  return manifest;
}

std::string printable(std::string_view text) {
  std::string result(text.substr(0, kTextMax));
  std::replace_if(
      result.begin(), result.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return result.empty() ? "no reason given" : result;
}

}  // namespace tinyot::storage
