#include "tinyot/store.h"

#include <algorithm>

#include "engine/api/state.h"
#include "engine/connection.h"
#include "storage/retire.h"
#include "storage/store.h"

namespace tinyot {
namespace {

// The kinds of which an AND consumes one object each.
std::span<const MaterialKind> kinds_of(const std::string& material) {
  static constexpr std::array kTriples = {MaterialKind::Triples};
  static constexpr std::array kPairs = {MaterialKind::AuthAndsA, MaterialKind::AuthAndsB,
                                        MaterialKind::AuthOtsAB, MaterialKind::AuthOtsBA};
  if (material == name_of(MaterialForm::Triples)) return kTriples;
  return kPairs;
}

StoreState state_of(storage::SessionState state) {
  switch (state) {
    case storage::SessionState::Open:
      return StoreState::Open;
    case storage::SessionState::Complete:
      return StoreState::Complete;
    case storage::SessionState::Revoked:
      break;
  }
  return StoreState::Revoked;
}

StoreInfo info_of(const storage::Store& store) {
  const storage::Manifest& manifest = store.manifest();
  StoreInfo info{.session = short_name(engine::session_id_of(manifest)),
                 .party = manifest.me,
                 .peer = manifest.peer,
                 .state = state_of(manifest.state),
                 .revoked_because = manifest.revoked_reason,
                 .profile = manifest.profile,
                 .material = manifest.material,
                 .sigma = manifest.sigma,
                 .sigma_exact = manifest.sigma_exact,
                 .bucket = manifest.bucket,
                 .unit = manifest.unit,
                 .shard = manifest.shard,
                 .shards = manifest.shards,
                 .units_made = manifest.units_made,
                 .units_outstanding = store.attempts().outstanding,
                 .made = store.made(),
                 .left = store.left(),
                 .ands_left = ~std::uint64_t{0},
                 .bytes = store.store_bytes()};
  for (const MaterialKind kind : kinds_of(manifest.material))
    info.ands_left = std::min(info.ands_left, info.left[kind]);
  return info;
}

}  // namespace

std::optional<storage::StoreKey> read_key(const std::optional<std::filesystem::path>& file) {
  if (!file) return std::nullopt;
  return storage::read_store_key(*file);
}

Store::Store(std::filesystem::path directory, std::optional<std::filesystem::path> store_key)
    : directory_(std::move(directory)), store_key_(std::move(store_key)) {}

StoreInfo Store::info() const {
  return info_of(storage::Store::open(
      directory_, {.purpose = storage::Purpose::Inspect, .store_key = read_key(store_key_)}));
}

std::vector<std::string> Store::retire() const {
  return storage::retire_store(directory_, read_key(store_key_)).not_done;
}

}  // namespace tinyot
